//! What a command consumed, as its control group tells it.
//!
//! | what | version 2 | version 1 |
//! |---|---|---|
//! | peak of memory | `memory.peak` | `memory/memory.max_usage_in_bytes` |
//! | limit of memory | `memory.max`, the least of the group and those above it; `max` is none | `memory/memory.limit_in_bytes`, above 2^60 none |
//! | periods, throttled ones | `cpu.stat`: `nr_periods`, `nr_throttled` | the same of `cpu/cpu.stat` |
//! | throttled time | `cpu.stat`: `throttled_usec` | `cpu/cpu.stat`: `throttled_time`, in nanoseconds |
//!
//! The group is that of this process, which the command shares, so only what changes while it runs is the command's: what the counters
//! grow by, and a peak that was not reached before. A peak of earlier is somebody else's, and as good as absent.
//!
//! A file that is not there, or says something else, is as good as absent.

use std::fs;
use std::path::{Path, PathBuf};

use renown_core::scorecard::Resources;
use renown_core::units::Whole;

/// Where control groups are.
const ROOT: &str = "/sys/fs/cgroup";

/// Version 1 has no word for "no limit", only a number that no machine has.
const NO_LIMIT_BYTES: u64 = 1 << 60;

/// The directories of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// Of version 2: the directory, and that of the highest group above it.
    Unified { dir: PathBuf, root: PathBuf },
    /// Of version 1: one for memory and one for the processor, as far as they are there.
    Split { memory: Option<PathBuf>, cpu: Option<PathBuf> },
}

/// The counters at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    periods: Option<u64>,
    throttled_periods: Option<u64>,
    throttled_us: Option<u64>,
    memory_peak_bytes: Option<u64>,
}

impl Group {
    /// The group of this process, if the system has such.
    pub(super) fn own() -> Option<Self> {
        Self::find(Path::new(ROOT), &fs::read_to_string("/proc/self/cgroup").ok()?)
    }

    /// The group that `/proc/self/cgroup` names, below the root where groups are.
    fn find(root: &Path, listed: &str) -> Option<Self> {
        let lines = || {
            listed.lines().filter_map(|line| {
                let (_, rest) = line.split_once(':')?;
                rest.split_once(':')
            })
        };
        // In a container the path may be that of the machine, which is not there: then the root is the container's own.
        let below = |root: PathBuf, path: &str| {
            let dir = root.join(path.trim_start_matches('/'));
            if dir.is_dir() { dir } else { root }
        };
        if root.join("cgroup.controllers").is_file() {
            let path = lines().find(|(controllers, _)| controllers.is_empty()).map_or("", |(_, path)| path);
            return Some(Self::Unified { dir: below(root.to_owned(), path), root: root.to_owned() });
        }
        let split = |name: &str, mounts: [&str; 2]| {
            let (_, path) =
                lines().find(|(controllers, _)| controllers.split(',').any(|known| known == name))?;
            let mount = mounts.iter().map(|mount| root.join(mount)).find(|mount| mount.is_dir())?;
            Some(below(mount, path))
        };
        let (memory, cpu) = (split("memory", ["memory", "memory"]), split("cpu", ["cpu,cpuacct", "cpu"]));
        (memory.is_some() || cpu.is_some()).then_some(Self::Split { memory, cpu })
    }

    /// The counters as they are now.
    pub(super) fn counters(&self) -> Counters {
        let (dir, time, per_us) = match self {
            Self::Unified { dir, .. } => (Some(dir), "throttled_usec", 1),
            Self::Split { cpu, .. } => (cpu.as_ref(), "throttled_time", 1000),
        };
        let text = dir.and_then(|dir| fs::read_to_string(dir.join("cpu.stat")).ok()).unwrap_or_default();
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|number| number.trim().parse::<u64>().ok())
        };
        Counters {
            periods: value("nr_periods"),
            throttled_periods: value("nr_throttled"),
            throttled_us: value(time).map(|time| time / per_us),
            memory_peak_bytes: self.memory_peak(),
        }
    }

    /// The peak of memory.
    fn memory_peak(&self) -> Option<u64> {
        match self {
            Self::Unified { dir, .. } => number(&dir.join("memory.peak")),
            Self::Split { memory, .. } => number(&memory.as_ref()?.join("memory.max_usage_in_bytes")),
        }
    }

    /// The least limit of memory of the group and those above it.
    fn memory_limit(&self) -> Option<u64> {
        match self {
            Self::Unified { dir, root } => {
                let groups = dir.ancestors().take_while(|dir| dir.starts_with(root));
                groups.filter_map(|dir| number(&dir.join("memory.max"))).min()
            }
            Self::Split { memory, .. } => number(&memory.as_ref()?.join("memory.limit_in_bytes"))
                .filter(|bytes| *bytes < NO_LIMIT_BYTES),
        }
    }

    /// What was consumed since the counters were read.
    pub(super) fn since(&self, before: Counters) -> Resources {
        let now = self.counters();
        let grown = |now: Option<u64>, before: Option<u64>| now?.checked_sub(before?);
        let peak =
            now.memory_peak_bytes.filter(|peak| before.memory_peak_bytes.is_none_or(|before| *peak > before));
        Resources {
            memory_peak_bytes: peak.and_then(Whole::new),
            memory_limit_bytes: self.memory_limit().and_then(Whole::new),
            cpu_periods: grown(now.periods, before.periods).and_then(Whole::new),
            cpu_throttled_periods: grown(now.throttled_periods, before.throttled_periods)
                .and_then(Whole::new),
            cpu_throttled_ms: grown(now.throttled_us, before.throttled_us)
                .and_then(|us| Whole::new(us / 1000)),
        }
    }
}

fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recorded tree: files with what was in them.
    fn tree(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("renown-cgroup-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for (file, text) in files {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn told(resources: Resources) -> [Option<u64>; 5] {
        [
            resources.memory_peak_bytes,
            resources.memory_limit_bytes,
            resources.cpu_periods,
            resources.cpu_throttled_periods,
            resources.cpu_throttled_ms,
        ]
        .map(|number| number.map(Whole::get))
    }

    #[test]
    fn version_2_is_read() {
        let group = "system.slice/docker-4f0c.scope";
        let stat = "usage_usec 5120000\nuser_usec 4000000\nsystem_usec 1120000\nnr_periods 40\nnr_throttled 10\nthrottled_usec 350999\nnr_bursts 0\n";
        let root = tree(
            "v2",
            &[
                ("cgroup.controllers", "cpuset cpu io memory hugetlb pids rdma misc\n"),
                (&format!("{group}/memory.peak"), "157286400\n"),
                (&format!("{group}/memory.max"), "max\n"),
                ("system.slice/memory.max", "536870912\n"),
                (&format!("{group}/cpu.stat"), stat),
            ],
        );
        let found = Group::find(&root, &format!("0::/{group}\n")).unwrap();
        let before = Counters {
            periods: Some(30),
            throttled_periods: Some(9),
            throttled_us: Some(100_000),
            memory_peak_bytes: Some(157_286_399),
        };
        assert_eq!(
            told(found.since(before)),
            [Some(157_286_400), Some(536_870_912), Some(10), Some(1), Some(250)]
        );
        let reached = Counters { memory_peak_bytes: Some(157_286_400), ..before };
        assert_eq!(told(found.since(reached))[0], None, "the peak was there before");
        // The path of the machine is not there in a container.
        let own = Group::find(&root, "0::/kubepods/pod1\n").unwrap();
        assert_eq!(own, Group::Unified { dir: root.clone(), root: root.clone() });
        assert_eq!(told(own.since(Counters::default())), [None; 5]);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn version_1_is_read_by_its_names() {
        let root = tree(
            "v1",
            &[
                ("memory/job/memory.max_usage_in_bytes", "4096000\n"),
                ("memory/job/memory.limit_in_bytes", "9223372036854771712\n"),
                ("cpu,cpuacct/job/cpu.stat", "nr_periods 7\nnr_throttled 2\nthrottled_time 1500000000\n"),
            ],
        );
        let listed = "12:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/job\n";
        let found = Group::find(&root, listed).unwrap();
        let before = Counters {
            periods: Some(0),
            throttled_periods: Some(0),
            throttled_us: Some(0),
            memory_peak_bytes: Some(0),
        };
        assert_eq!(told(found.since(before)), [Some(4_096_000), None, Some(7), Some(2), Some(1500)]);
        fs::write(root.join("memory/job/memory.limit_in_bytes"), "8192000\n").unwrap();
        assert_eq!(told(found.since(before))[1], Some(8_192_000));
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn what_is_not_there_or_odd_is_absent() {
        let root = tree(
            "odd",
            &[("cgroup.controllers", ""), ("memory.peak", "much\n"), ("cpu.stat", "nr_periods -1\n")],
        );
        let found = Group::find(&root, "nonsense").unwrap();
        assert_eq!(told(found.since(Counters::default())), [None; 5]);
        // A counter that is reset tells nothing.
        fs::write(root.join("cpu.stat"), "nr_periods 1\n").unwrap();
        let before = Counters { periods: Some(5), ..Counters::default() };
        assert_eq!(told(found.since(before))[2], None);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(Group::find(&root, "0::/x\n"), None);
    }
}
