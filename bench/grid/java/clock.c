/* SPDX-License-Identifier: MIT */
/* The CPU time of the process for Main.java, in nanoseconds. */
#define _POSIX_C_SOURCE 200809L
#include <jni.h>
#include <time.h>

JNIEXPORT jlong JNICALL Java_Main_cpuNanos(JNIEnv *env, jclass class)
{
    (void)env;
    (void)class;
    struct timespec time = { 0, 0 };
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (jlong)time.tv_sec * 1000000000 + time.tv_nsec;
}
