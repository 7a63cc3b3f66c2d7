// SPDX-License-Identifier: MIT

// Contestant "go": goroutines and sync.WaitGroup. A fork is a goroutine, a join is a Wait; loops
// are GOMAXPROCS goroutines that take pieces from a shared counter, as nobody starts a million
// goroutines for a loop. This file is the line protocol of bench/grid/README.md.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// A job is one workload with its inputs. Only run is on the clock.
type job struct {
	prepare func()        // before each run; may be nil
	run     func() uint64 // its result is the checksum,
	check   func() uint64 // unless this is there
}

func cpuTime() int64 {
	const clockProcessCPU = 2
	var t syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockProcessCPU, uintptr(unsafe.Pointer(&t)), 0)
	return t.Nano()
}

func measure(j *job) string {
	if j.prepare != nil {
		j.prepare()
	}
	cpu, wall := cpuTime(), time.Now()
	sum := j.run()
	wallNs, cpuNs := time.Since(wall).Nanoseconds(), cpuTime()-cpu
	if j.check != nil {
		sum = j.check()
	}
	return fmt.Sprintf("ok %d %d %d", wallNs, cpuNs, sum)
}

// makeJob takes "run <workload> <arguments>" apart; an error is the answer that refuses it.
func makeJob(line string) (*job, error) {
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != "run" {
		return nil, fmt.Errorf("error unknown command")
	}
	if words[1] == "uts" {
		return utsJob(words[2:])
	}
	found, known := workloads[words[1]]
	if !known {
		return nil, fmt.Errorf("none there is no such workload")
	}
	numbers, err := readNumbers(words[2:], found.limits)
	if err != nil {
		return nil, err
	}
	return found.make(numbers), nil
}

func readNumbers(words []string, limits []limit) ([]int, error) {
	if len(words) != len(limits) {
		return nil, fmt.Errorf("error %d numbers are needed", len(limits))
	}
	numbers := make([]int, len(words))
	for i, word := range words {
		var err error
		numbers[i], err = strconv.Atoi(word)
		if err != nil || numbers[i] < limits[i].least || numbers[i] > limits[i].most {
			return nil, fmt.Errorf("error %q is no number from %d to %d", word, limits[i].least, limits[i].most)
		}
	}
	return numbers, nil
}

func main() {
	threads := 0
	if len(os.Args) == 2 {
		threads, _ = strconv.Atoi(os.Args[1])
	}
	if threads < 1 {
		fmt.Fprintln(os.Stderr, "usage: go <threads>")
		os.Exit(2)
	}
	runtime.GOMAXPROCS(threads)
	debug.SetGCPercent(gcPercent)
	fmt.Printf("ready go %s, GOMAXPROCS=%d, GOGC=%d, a goroutine a fork, "+
		"loops by GOMAXPROCS goroutines and an atomic counter\n",
		strings.TrimPrefix(runtime.Version(), "go"), threads, gcPercent)

	// The inputs stay as long as the same line comes again.
	var last string
	var cached *job
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		line := lines.Text()
		if line == "quit" {
			return
		}
		if line != last {
			made, err := makeJob(line)
			if err != nil {
				fmt.Println(err)
				continue
			}
			last, cached = line, made
		}
		fmt.Println(measure(cached))
	}
}
