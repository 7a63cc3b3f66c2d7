// SPDX-License-Identifier: MIT

package main

import (
	"runtime"
	"sync"
	"sync/atomic"
)

const gcPercent = 400 // tiny heap, much garbage: the default would collect every 4 MiB

// A workload takes a number for each of its limits.
type workload struct {
	limits []limit
	make   func(n []int) *job
}

type limit struct{ least, most int }

var (
	size  = limit{1, 1 << 28}
	iters = limit{1, 1<<32 - 1}
)

var workloads = map[string]workload{
	"fib":     {[]limit{{0, 50}}, plain(func(n []int) uint64 { return fib(uint64(n[0])) })},
	"tree":    {[]limit{{1, 28}}, treeJob},
	"queens":  {[]limit{{1, 16}}, plain(func(n []int) uint64 { return queens(1<<n[0]-1, 0, 0, 0, 0) })},
	"sort":    {[]limit{size}, sortJob},
	"matmul":  {[]limit{{1, 4096}}, matmulJob},
	"heat":    {[]limit{{3, 16384}, {1, 100000}}, heatJob},
	"sweep":   {[]limit{size, size}, plain(func(n []int) uint64 { return sweep(n[0], n[1]) })},
	"coarse":  {[]limit{size, iters}, plain(tasks)},
	"handful": {[]limit{size, iters}, plain(tasks)},
	"spine":   {[]limit{size, iters}, plain(tasks)},
	"flood":   {[]limit{size}, plain(func(n []int) uint64 { return flood(n[0]) })},
	"pareto": {[]limit{size, {1, 1 << 20}},
		plain(func(n []int) uint64 { return pareto(0, uint64(n[0]), uint64(n[1])) })},
}

// plain is a workload that needs nothing but its numbers.
func plain(run func(n []int) uint64) func(n []int) *job {
	return func(n []int) *job { return &job{run: func() uint64 { return run(n) }} }
}

// ---- what everybody computes ----

func mix(i uint64) uint64 {
	z := i + 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func spin(x, iters uint64) uint64 {
	for ; iters > 0; iters-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x >> 33
}

// ---- forks ----

// both runs two functions, one as a goroutine, and adds their results.
func both(forked, called func() uint64) uint64 {
	var first uint64
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		first = forked()
	}()
	second := called()
	wg.Wait()
	return first + second
}

// all runs f(0) ... f(n-1), a goroutine each, and adds their results.
func all(n int, f func(i int) uint64) uint64 {
	results := make([]uint64, n)
	var wg sync.WaitGroup
	wg.Add(n)
	for i := 0; i < n; i++ {
		go func(i int) {
			defer wg.Done()
			results[i] = f(i)
		}(i)
	}
	wg.Wait()
	var sum uint64
	for _, r := range results {
		sum += r
	}
	return sum
}

// loop runs body on pieces of [0, n) of `grain` and adds the results.
func loop(n, grain int, body func(from, to int) uint64) uint64 {
	var next, sum uint64
	worker := func() {
		var mine uint64
		for {
			from := int(atomic.AddUint64(&next, uint64(grain))) - grain
			if from >= n {
				break
			}
			to := from + grain
			if to > n {
				to = n
			}
			mine += body(from, to)
		}
		atomic.AddUint64(&sum, mine)
	}
	var wg sync.WaitGroup
	others := runtime.GOMAXPROCS(0) - 1
	wg.Add(others)
	for i := 0; i < others; i++ {
		go func() {
			defer wg.Done()
			worker()
		}()
	}
	worker()
	wg.Wait()
	return sum
}

// ---- the workloads ----

func fib(n uint64) uint64 {
	if n < 2 {
		return n
	}
	return both(func() uint64 { return fib(n - 1) }, func() uint64 { return fib(n - 2) })
}

type node struct {
	left, right uint32 // 0: none
	value       uint64
}

// plant lays out a complete tree depth first, from nodes[at] on.
func plant(nodes []node, at uint32, depth int) {
	nodes[at].value = mix(uint64(at)) & 0xffff
	if depth > 1 {
		nodes[at].left, nodes[at].right = at+1, at+1<<(depth-1)
		plant(nodes, nodes[at].left, depth-1)
		plant(nodes, nodes[at].right, depth-1)
	}
}

func treeSum(nodes []node, at uint32) uint64 {
	n := &nodes[at]
	if n.left == 0 {
		return n.value
	}
	return n.value + both(func() uint64 { return treeSum(nodes, n.left) },
		func() uint64 { return treeSum(nodes, n.right) })
}

func treeJob(n []int) *job {
	nodes := make([]node, 1<<n[0]-1)
	plant(nodes, 0, n[0])
	return &job{run: func() uint64 { return treeSum(nodes, 0) }}
}

// queens counts the ways to fill the rows that are left; full has a bit for each column.
func queens(full, columns, left, right uint32, row int) uint64 {
	const taskRows = 4
	if columns == full {
		return 1
	}
	free := full &^ (columns | left | right)
	place := func(bit uint32) uint64 {
		return queens(full, columns|bit, (left|bit)<<1, (right|bit)>>1, row+1)
	}
	if row >= taskRows {
		var ways uint64
		for ; free != 0; free &= free - 1 {
			ways += place(free & -free)
		}
		return ways
	}
	var bits []uint32
	for ; free != 0; free &= free - 1 {
		bits = append(bits, free&-free)
	}
	return all(len(bits), func(i int) uint64 { return place(bits[i]) })
}

func matmulJob(n []int) *job {
	size := n[0]
	cells := size * size
	a, b, c := make([]float64, cells), make([]float64, cells), make([]float64, cells)
	for i := range a {
		a[i] = float64(mix(uint64(i)) & 7)
		b[i] = float64(mix(uint64(cells+i)) & 7)
	}
	row := func(i int) {
		mine := c[i*size : (i+1)*size]
		for j := range mine {
			mine[j] = 0
		}
		for k, x := range a[i*size : (i+1)*size] {
			for j, y := range b[k*size : (k+1)*size] {
				mine[j] += x * y
			}
		}
	}
	return &job{
		run: func() uint64 {
			return loop(size, 1, func(from, to int) uint64 {
				for i := from; i < to; i++ {
					row(i)
				}
				return 0
			})
		},
		check: func() uint64 {
			var sum uint64
			for _, x := range c {
				sum += uint64(x)
			}
			return sum
		},
	}
}

func heatJob(n []int) *job {
	size, steps := n[0], n[1]
	now, next := make([]uint32, size*size), make([]uint32, size*size)
	row := func(i int) {
		up, down := now[(i-1)*size:i*size], now[(i+1)*size:(i+2)*size]
		mid, out := now[i*size:(i+1)*size], next[i*size:(i+1)*size]
		for j := 1; j < size-1; j++ {
			out[j] = (up[j] + down[j] + mid[j-1] + mid[j+1]) / 4
		}
	}
	grain := (size + 8*runtime.GOMAXPROCS(0) - 1) / (8 * runtime.GOMAXPROCS(0))
	return &job{
		prepare: func() {
			for i := range now {
				now[i] = uint32(mix(uint64(i)) & 0xffff)
			}
			copy(next, now)
		},
		run: func() uint64 {
			for s := 0; s < steps; s++ {
				loop(size-2, grain, func(from, to int) uint64 {
					for i := from; i < to; i++ {
						row(i + 1)
					}
					return 0
				})
				now, next = next, now
			}
			return 0
		},
		check: func() uint64 {
			var sum uint64
			for _, x := range now {
				sum += uint64(x)
			}
			return sum
		},
	}
}

func sweep(grain, n int) uint64 {
	return loop(n, grain, func(from, to int) uint64 {
		var sum uint64
		for i := from; i < to; i++ {
			sum += spin(uint64(i), 100)
		}
		return sum
	})
}

// tasks is coarse, handful and spine: they differ in number and length.
func tasks(n []int) uint64 {
	return all(n[0], func(i int) uint64 { return spin(uint64(i), uint64(n[1])) })
}

func flood(n int) uint64 {
	var count uint64
	var wg sync.WaitGroup
	wg.Add(n)
	for i := 0; i < n; i++ {
		go func() {
			atomic.AddUint64(&count, 1)
			wg.Done()
		}()
	}
	wg.Wait()
	return count
}

func pareto(from, to, scale uint64) uint64 {
	if to-from == 1 {
		cost := scale << 16 / (mix(from)>>48 + 1)
		if cost > 1<<20 {
			cost = 1 << 20
		}
		return spin(from, cost)
	}
	half := from + (to-from)/2
	return both(func() uint64 { return pareto(from, half, scale) },
		func() uint64 { return pareto(half, to, scale) })
}
