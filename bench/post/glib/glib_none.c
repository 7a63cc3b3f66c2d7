/* SPDX-License-Identifier: MIT */
/* Stands in for glib.c where GLib was not found when this was built; the build chooses.
 *
 * The contestant is then listed as skipped, and what is claimed against it is not judged. */
#include "bench/post/work.h"

const post_design post_glib = { .name = "glib", .missing = "built without glib-2.0" };
