/* SPDX-License-Identifier: MIT */
/* Tasks that throw: see test_leaving.c. */
#include <stdexcept>

#include <filch/filch.h>

extern "C" {
void test_throw(filch_cx *cx, void *arg);
bool test_catch_inside(filch_cx *cx);
}

void test_throw(filch_cx *, void *)
{
    throw std::runtime_error("out of a task");
}

static void throw_and_catch(filch_cx *, void *arg)
{
    try {
        throw std::runtime_error("inside a task");
    } catch (const std::runtime_error &) {
        *static_cast<bool *>(arg) = true;
    }
}

bool test_catch_inside(filch_cx *cx)
{
    bool first = false;
    bool second = false;
    filch_join2(cx, throw_and_catch, &first, throw_and_catch, &second);
    return first && second;
}
