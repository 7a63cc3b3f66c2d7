// SPDX-License-Identifier: MIT

package main

// Go has no parallel sort: this is a merge sort by forks, serial below forkFrom elements and an
// insertion sort below mergeFrom. The standard library's serial sorts call a function a comparison
// and are slower than this on one thread already.
const (
	forkFrom  = 4096
	mergeFrom = 24
)

// mergeSort sorts `from`, into `to` if intoTo, else in place; the other one is scratch.
func mergeSort(from, to []uint64, intoTo bool) {
	n := len(from)
	if n < mergeFrom {
		insertionSort(from)
		if intoTo {
			copy(to, from)
		}
		return
	}
	half := n / 2
	left := func() uint64 { mergeSort(from[:half], to[:half], !intoTo); return 0 }
	right := func() uint64 { mergeSort(from[half:], to[half:], !intoTo); return 0 }
	if n >= forkFrom {
		both(left, right)
	} else {
		left()
		right()
	}
	if intoTo {
		merge(from[:half], from[half:], to)
	} else {
		merge(to[:half], to[half:], from)
	}
}

func insertionSort(a []uint64) {
	for i := 1; i < len(a); i++ {
		x, j := a[i], i
		for ; j > 0 && a[j-1] > x; j-- {
			a[j] = a[j-1]
		}
		a[j] = x
	}
}

func merge(a, b, out []uint64) {
	for i := range out {
		if len(b) == 0 || (len(a) > 0 && a[0] <= b[0]) {
			out[i], a = a[0], a[1:]
		} else {
			out[i], b = b[0], b[1:]
		}
	}
}

func sortJob(n []int) *job {
	input, sorted, scratch := make([]uint64, n[0]), make([]uint64, n[0]), make([]uint64, n[0])
	for i := range input {
		input[i] = mix(uint64(i))
	}
	return &job{
		prepare: func() { copy(sorted, input) },
		run:     func() uint64 { mergeSort(sorted, scratch, false); return 0 },
		check: func() uint64 {
			var sum uint64
			for i, x := range sorted {
				sum ^= mix(x + uint64(i))
			}
			return sum
		},
	}
}
