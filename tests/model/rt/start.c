/* SPDX-License-Identifier: MIT */
/* main() of every client; the explorer itself is a shared library. */
#include "main.h"

int main(int argc, char **argv)
{
    return model_main(argc, argv, model_clients);
}
