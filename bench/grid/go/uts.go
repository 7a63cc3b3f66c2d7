// SPDX-License-Identifier: MIT

package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// SHA-1 of one block, written as all contestants have it: the runtimes are compared, not their SHA-1.
func sha1(block *[64]byte) (digest [20]byte) {
	var w [16]uint32
	for t := range w {
		w[t] = binary.BigEndian.Uint32(block[4*t:])
	}
	const h0, h1, h2, h3, h4 = 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0
	var a, b, c, d, e uint32 = h0, h1, h2, h3, h4
	for t := 0; t < 80; t++ {
		if t >= 16 {
			w[t&15] = bits.RotateLeft32(w[(t+13)&15]^w[(t+8)&15]^w[(t+2)&15]^w[t&15], 1)
		}
		var mixed, key uint32
		switch {
		case t < 20:
			mixed, key = b&c|^b&d, 0x5a827999
		case t < 40:
			mixed, key = b^c^d, 0x6ed9eba1
		case t < 60:
			mixed, key = b&c|b&d|c&d, 0x8f1bbcdc
		default:
			mixed, key = b^c^d, 0xca62c1d6
		}
		next := bits.RotateLeft32(a, 5) + mixed + e + key + w[t&15]
		a, b, c, d, e = next, a, bits.RotateLeft32(b, 30), c, d
	}
	for i, h := range [5]uint32{h0 + a, h1 + b, h2 + c, h3 + d, h4 + e} {
		binary.BigEndian.PutUint32(digest[4*i:], h)
	}
	return digest
}

type state [20]byte

// derive is the SHA-1 of a seed of 16 or 20 bytes and a number.
func derive(seed []byte, number uint32) state {
	var block [64]byte
	n := copy(block[:], seed)
	binary.BigEndian.PutUint32(block[n:], number)
	block[n+4] = 0x80
	block[63] = byte(8 * (n + 4))
	return sha1(&block)
}

// T1 is geometric of fixed shape: b children expected down to depth d. T3 is binomial: b children
// of the root, m with probability q of the others.
type shape struct {
	binomial bool
	b        int
	d        int
	q        float64
	m        int
	seed     uint32
}

var shapes = map[string]shape{
	"T1": {b: 4, d: 10, seed: 19},
	"T3": {binomial: true, b: 2000, d: 1 << 30, q: 0.124875, m: 8, seed: 42},
}

func (s *shape) children(n *state, height int) int {
	const most = 100
	if height >= s.d {
		return 0
	}
	u := float64(binary.BigEndian.Uint32(n[16:])&0x7fffffff) / (1 << 31)
	if s.binomial {
		if height == 0 {
			return s.b
		}
		if u < s.q {
			return s.m
		}
		return 0
	}
	p := 1 / (1 + float64(s.b))
	count := int(math.Floor(math.Log(1-u) / math.Log(1-p)))
	if count > most {
		return most
	}
	return count
}

func (s *shape) search(n state, height int) uint64 {
	children := s.children(&n, height)
	if children == 0 {
		return 1
	}
	return 1 + all(children, func(i int) uint64 { return s.search(derive(n[:], uint32(i)), height+1) })
}

// utsJob takes the name of a tree, and perhaps a depth where it is cut.
func utsJob(args []string) (*job, error) {
	if len(args) < 1 || len(args) > 2 || (args[0] != "T1" && args[0] != "T3") {
		return nil, fmt.Errorf("error T1 or T3, and perhaps a depth")
	}
	s := shapes[args[0]]
	if len(args) == 2 {
		depth, err := readNumbers(args[1:], []limit{size})
		if err != nil {
			return nil, err
		}
		if depth[0] < s.d {
			s.d = depth[0]
		}
	}
	root := derive(make([]byte, 16), s.seed)
	return &job{run: func() uint64 { return s.search(root, 0) }}, nil
}
