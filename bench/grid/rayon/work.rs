// SPDX-License-Identifier: MIT

//! The workloads but uts.

use crate::{uts, Job};
use rayon::prelude::*;
use std::arch::asm;
use std::sync::atomic::{AtomicU64, Ordering};

pub fn mix(i: u64) -> u64 {
    let z = i.wrapping_add(0x9E3779B97F4A7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58476D1CE4E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D049BB133111EB);
    z ^ (z >> 31)
}

fn spin(mut x: u64, iters: u64) -> u64 {
    for _ in 0..iters {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        // Else LLVM makes one step of eight. (black_box is younger than Debian's rustc.)
        unsafe { asm!("/* {0} */", inout(reg) x, options(pure, nomem, nostack, preserves_flags)) };
    }
    x >> 33
}

/// A workload that needs nothing but its numbers.
pub struct Plain<F>(pub F);

impl<F: FnMut() -> u64 + Send> Job for Plain<F> {
    fn run(&mut self) -> u64 {
        (self.0)()
    }
}

fn plain<F: FnMut() -> u64 + Send + 'static>(run: F) -> Box<dyn Job> {
    Box::new(Plain(run))
}

const SIZE: (usize, usize) = (1, 1 << 28);
const ITERS: (usize, usize) = (1, u32::MAX as usize);

/// The numbers that a workload takes: least and most of each.
fn limits(workload: &str) -> Result<&'static [(usize, usize)], String> {
    Ok(match workload {
        "fib" => &[(0, 50)],
        "tree" => &[(1, 28)],
        "queens" => &[(1, 16)],
        "sort" | "flood" => &[SIZE],
        "matmul" => &[(1, 4096)],
        "heat" => &[(3, 16384), (1, 100000)],
        "sweep" => &[SIZE, SIZE],
        "coarse" | "handful" | "spine" => &[SIZE, ITERS],
        "pareto" => &[SIZE, (1, 1 << 20)],
        _ => return Err("none there is no such workload".into()),
    })
}

fn read_numbers(args: &[&str], limits: &[(usize, usize)]) -> Result<Vec<usize>, String> {
    if args.len() != limits.len() {
        return Err(format!("error {} numbers are needed", limits.len()));
    }
    let read = |(arg, &(least, most)): (&&str, &(usize, usize))| match arg.parse() {
        Ok(n) if least <= n && n <= most => Ok(n),
        _ => Err(format!("error {arg:?} is no number from {least} to {most}")),
    };
    args.iter().zip(limits).map(read).collect()
}

pub fn make(workload: &str, args: &[&str]) -> Result<Box<dyn Job>, String> {
    if workload == "uts" {
        return match args {
            [tree] => uts::make(tree, usize::MAX),
            [tree, depth] => uts::make(tree, read_numbers(&[depth], &[SIZE])?[0]),
            _ => Err("error T1 or T3, and perhaps a depth".into()),
        };
    }
    let numbers = read_numbers(args, limits(workload)?)?;
    let n = numbers[0];
    let second = numbers.get(1).copied().unwrap_or(0);
    Ok(match workload {
        "fib" => plain(move || fib(n as u64)),
        "tree" => Box::new(Tree::new(n)),
        "queens" => plain(move || queens((1 << n) - 1, 0, 0, 0, 0)),
        "sort" => Box::new(Sort::new(n)),
        "matmul" => Box::new(Matmul::new(n)),
        "heat" => Box::new(Heat::new(n, second)),
        "sweep" => plain(move || sweep(n, second)),
        "flood" => plain(move || flood(n)),
        "spine" => Box::new(Spine { iters: second as u64, results: vec![0; n] }),
        "pareto" => plain(move || pareto(0, n as u64, second as u64)),
        _ => plain(move || tasks(n, second as u64)), // coarse, handful
    })
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

#[derive(Clone, Default)]
struct Node {
    left: u32, // 0: none
    right: u32,
    value: u64,
}

struct Tree(Vec<Node>);

impl Tree {
    fn new(depth: usize) -> Tree {
        let mut tree = Tree(vec![Node::default(); (1 << depth) - 1]);
        tree.plant(0, depth);
        tree
    }

    /// A complete tree in depth-first order, from node `at` on.
    fn plant(&mut self, at: u32, depth: usize) {
        self.0[at as usize].value = mix(at.into()) & 0xffff;
        if depth > 1 {
            let (left, right) = (at + 1, at + (1 << (depth - 1)));
            self.0[at as usize].left = left;
            self.0[at as usize].right = right;
            self.plant(left, depth - 1);
            self.plant(right, depth - 1);
        }
    }

    fn sum(&self, at: u32) -> u64 {
        let node = &self.0[at as usize];
        if node.left == 0 {
            return node.value;
        }
        let (left, right) = rayon::join(|| self.sum(node.left), || self.sum(node.right));
        node.value + left + right
    }
}

impl Job for Tree {
    fn run(&mut self) -> u64 {
        self.sum(0)
    }
}

/// Ways to fill the rows that are left; `all` has a bit for each column.
fn queens(all: u32, columns: u32, left: u32, right: u32, row: u32) -> u64 {
    const TASK_ROWS: u32 = 4;
    if columns == all {
        return 1;
    }
    let mut free = all & !(columns | left | right);
    let places = std::iter::from_fn(|| {
        let bit = free & free.wrapping_neg();
        free ^= bit;
        (bit != 0).then(|| bit)
    });
    let place = |bit| queens(all, columns | bit, (left | bit) << 1, (right | bit) >> 1, row + 1);
    if row < TASK_ROWS {
        places.collect::<Vec<_>>().into_par_iter().with_max_len(1).map(place).sum()
    } else {
        places.map(place).sum()
    }
}

struct Sort {
    input: Vec<u64>,
    sorted: Vec<u64>,
}

impl Sort {
    fn new(n: usize) -> Sort {
        let input: Vec<u64> = (0..n as u64).map(mix).collect();
        Sort { sorted: input.clone(), input }
    }
}

impl Job for Sort {
    fn prepare(&mut self) {
        self.sorted.copy_from_slice(&self.input);
    }
    fn run(&mut self) -> u64 {
        self.sorted.par_sort();
        0
    }
    fn checksum(&self, _: u64) -> u64 {
        self.sorted.iter().zip(0..).fold(0, |sum, (x, i)| sum ^ mix(x.wrapping_add(i)))
    }
}

struct Matmul {
    n: usize,
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

impl Matmul {
    fn new(n: usize) -> Matmul {
        let digits =
            |from: usize| (from..from + n * n).map(|i| (mix(i as u64) & 7) as f64).collect();
        Matmul { n, a: digits(0), b: digits(n * n), c: vec![0.0; n * n] }
    }
}

impl Job for Matmul {
    fn prepare(&mut self) {
        self.c.fill(0.0);
    }
    fn run(&mut self) -> u64 {
        let (n, b) = (self.n, &self.b);
        self.c.par_chunks_mut(n).zip(self.a.par_chunks(n)).for_each(|(c, a)| {
            for (factor, other) in a.iter().zip(b.chunks(n)) {
                for (sum, x) in c.iter_mut().zip(other) {
                    *sum += factor * x;
                }
            }
        });
        0
    }
    fn checksum(&self, _: u64) -> u64 {
        self.c.iter().map(|&x| x as u64).sum()
    }
}

struct Heat {
    n: usize,
    steps: usize,
    now: Vec<u32>,
    next: Vec<u32>,
}

impl Heat {
    fn new(n: usize, steps: usize) -> Heat {
        Heat { n, steps, now: vec![0; n * n], next: vec![0; n * n] }
    }
}

impl Job for Heat {
    fn prepare(&mut self) {
        for (i, cell) in self.now.iter_mut().enumerate() {
            *cell = mix(i as u64) as u32 & 0xffff;
        }
        self.next.copy_from_slice(&self.now);
    }
    fn run(&mut self) -> u64 {
        let n = self.n;
        for _ in 0..self.steps {
            let now = &self.now;
            let rows = self.next.par_chunks_mut(n).enumerate().skip(1).take(n - 2);
            rows.for_each(|(i, row)| {
                let [up, mid, down] = [i - 1, i, i + 1].map(|r| &now[r * n..(r + 1) * n]);
                for j in 1..n - 1 {
                    row[j] = (up[j] + down[j] + mid[j - 1] + mid[j + 1]) / 4;
                }
            });
            std::mem::swap(&mut self.now, &mut self.next);
        }
        0
    }
    fn checksum(&self, _: u64) -> u64 {
        self.now.iter().map(|&x| u64::from(x)).sum()
    }
}

/// with_max_len(1) over pieces: each piece is a task of its own, of exactly `grain`.
fn sweep(grain: usize, n: usize) -> u64 {
    let pieces = (n + grain - 1) / grain;
    let piece = |p| (p * grain..n.min((p + 1) * grain)).map(|i| spin(i as u64, 100)).sum::<u64>();
    (0..pieces).into_par_iter().with_max_len(1).map(piece).sum()
}

fn tasks(n: usize, iters: u64) -> u64 {
    (0..n).into_par_iter().with_max_len(1).map(|i| spin(i as u64, iters)).sum()
}

fn flood(n: usize) -> u64 {
    let count = AtomicU64::new(0);
    rayon::scope(|scope| {
        for _ in 0..n {
            scope.spawn(|_| {
                count.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    count.into_inner()
}

struct Spine {
    iters: u64,
    results: Vec<u64>,
}

impl Job for Spine {
    fn run(&mut self) -> u64 {
        let iters = self.iters;
        rayon::scope(|scope| {
            for (i, result) in self.results.iter_mut().enumerate() {
                scope.spawn(move |_| *result = spin(i as u64, iters));
            }
        });
        self.results.iter().sum()
    }
}

fn pareto(from: u64, to: u64, scale: u64) -> u64 {
    if to - from == 1 {
        let cost = scale * 65536 / ((mix(from) >> 48) + 1);
        return spin(from, cost.min(1 << 20));
    }
    let half = from + (to - from) / 2;
    let (a, b) = rayon::join(|| pareto(from, half, scale), || pareto(half, to, scale));
    a + b
}
