// SPDX-License-Identifier: MIT

//! The unbalanced tree search.

use crate::{work::Plain, Job};
use rayon::prelude::*;

type State = [u8; 20];

/// SHA-1 of one block, written as all contestants have it: the runtimes are compared, not their SHA-1.
fn sha1(block: &[u8; 64]) -> State {
    const START: [u32; 5] = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
    let mut w = [0u32; 16];
    for (word, bytes) in w.iter_mut().zip(block.chunks(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    let mut h = START;
    for t in 0..80 {
        let [a, b, c, d, e] = h;
        if t >= 16 {
            let word = w[(t + 13) & 15] ^ w[(t + 8) & 15] ^ w[(t + 2) & 15] ^ w[t & 15];
            w[t & 15] = word.rotate_left(1);
        }
        let (mixed, key) = match t {
            0..=19 => ((b & c) | (!b & d), 0x5a827999u32),
            20..=39 => (b ^ c ^ d, 0x6ed9eba1),
            40..=59 => ((b & c) | (b & d) | (c & d), 0x8f1bbcdc),
            _ => (b ^ c ^ d, 0xca62c1d6),
        };
        let next = a.rotate_left(5).wrapping_add(mixed).wrapping_add(e);
        h = [next.wrapping_add(key).wrapping_add(w[t & 15]), a, b.rotate_left(30), c, d];
    }
    let mut digest = [0; 20];
    for (i, bytes) in digest.chunks_mut(4).enumerate() {
        bytes.copy_from_slice(&h[i].wrapping_add(START[i]).to_be_bytes());
    }
    digest
}

/// The SHA-1 of a seed of 16 or 20 bytes and a number.
fn derive(seed: &[u8], number: u32) -> State {
    let n = seed.len();
    let mut block = [0; 64];
    block[..n].copy_from_slice(seed);
    block[n..n + 4].copy_from_slice(&number.to_be_bytes());
    block[n + 4] = 0x80;
    block[63] = 8 * (n as u8 + 4);
    sha1(&block)
}

/// T1 is geometric of fixed shape, T3 binomial: `b` children of the root, `m` with probability `q` of
/// the others.
#[derive(Clone, Copy)]
struct Tree {
    binomial: bool,
    b: u32,
    q: f64,
    m: u32,
    seed: u32,
    depth: usize, // nodes at this height have no children
}

const T1: Tree = Tree { binomial: false, b: 4, q: 0.0, m: 0, seed: 19, depth: 10 };
const T3: Tree = Tree { binomial: true, b: 2000, q: 0.124875, m: 8, seed: 42, depth: usize::MAX };

impl Tree {
    fn children(&self, node: &State, height: usize) -> u32 {
        if height >= self.depth {
            return 0;
        }
        let random = u32::from_be_bytes([node[16], node[17], node[18], node[19]]) & 0x7fffffff;
        let u = f64::from(random) / 2147483648.0;
        if !self.binomial {
            let p = 1.0 / (1.0 + f64::from(self.b));
            (((1.0 - u).ln() / (1.0 - p).ln()).floor() as u32).min(100)
        } else if height == 0 {
            self.b
        } else if u < self.q {
            self.m
        } else {
            0
        }
    }

    fn search(&self, node: State, height: usize) -> u64 {
        let children = self.children(&node, height);
        let search = |i| self.search(derive(&node, i), height + 1);
        1 + (0..children).into_par_iter().with_max_len(1).map(search).sum::<u64>()
    }
}

pub fn make(tree: &str, depth: usize) -> Result<Box<dyn Job>, String> {
    let mut tree = match tree {
        "T1" => T1,
        "T3" => T3,
        _ => return Err("error T1 or T3, and perhaps a depth".into()),
    };
    tree.depth = tree.depth.min(depth);
    let root = derive(&[0; 16], tree.seed);
    Ok(Box::new(Plain(move || tree.search(root, 0))))
}
