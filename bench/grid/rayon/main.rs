// SPDX-License-Identifier: MIT

//! Contestant "rayon": join for forks, parallel iterators for loops and groups, scope for spawns,
//! par_sort (stable). This file is the line protocol of bench/grid/README.md.

mod uts;
mod work;

use std::io::{self, BufRead, Write};
use std::time::Instant;

/// One workload with its inputs. Only `run` is on the clock.
pub trait Job: Send {
    fn prepare(&mut self) {}
    fn run(&mut self) -> u64;
    fn checksum(&self, returned: u64) -> u64 {
        returned
    }
}

fn cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn measure(pool: &rayon::ThreadPool, job: &mut dyn Job) -> String {
    job.prepare();
    let wall = Instant::now();
    let cpu = cpu_ns();
    let returned = pool.install(|| job.run());
    let cpu = cpu_ns() - cpu;
    let wall = wall.elapsed().as_nanos();
    format!("ok {} {} {}", wall, cpu, job.checksum(returned))
}

/// "run <workload> <arguments>", or the answer that refuses it.
fn make_job(line: &str) -> Result<Box<dyn Job>, String> {
    let mut words = line.split_ascii_whitespace();
    match (words.next(), words.next()) {
        (Some("run"), Some(workload)) => work::make(workload, &words.collect::<Vec<_>>()),
        _ => Err("error unknown command".into()),
    }
}

fn serve(pool: &rayon::ThreadPool) -> io::Result<()> {
    // The inputs stay as long as the same line comes again.
    let mut cached: Option<(String, Box<dyn Job>)> = None;
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line == "quit" {
            break;
        }
        if cached.as_ref().map_or(true, |(last, _)| *last != line) {
            cached = None;
            match make_job(&line) {
                Ok(job) => cached = Some((line, job)),
                Err(refusal) => println!("{refusal}"),
            }
        }
        if let Some((_, job)) = &mut cached {
            println!("{}", measure(pool, job.as_mut()));
        }
        io::stdout().flush()?;
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let threads = match std::env::args().nth(1).and_then(|arg| arg.parse().ok()) {
        Some(threads) if threads > 0 => threads,
        _ => {
            eprintln!("usage: rayon <threads>");
            std::process::exit(2);
        }
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(64 << 20) // uts T3 is 1,572 deep, and joins nest
        .build()
        .expect("a pool of threads");
    println!(
        "ready rayon {}, a ThreadPool of {threads}, join, parallel iterators with max_len for exact \
         pieces, scope, par_sort",
        env!("RAYON_VERSION")
    );
    io::stdout().flush()?;
    serve(&pool)
}
