//! The resources that a command used, from its control group.
//!
//! | value | version 2 | version 1 |
//! |---|---|---|
//! | memory peak | `memory.peak` | `memory/memory.max_usage_in_bytes` |
//! | memory limit | the minimum `memory.max` of the group and its ancestors; `max` means no limit | `memory/memory.limit_in_bytes`; above 2^60 means no limit |
//! | periods, throttled periods | `cpu.stat`: `nr_periods`, `nr_throttled` | the same of `cpu/cpu.stat` |
//! | throttled time | `cpu.stat`: `throttled_usec` | `cpu/cpu.stat`: `throttled_time`, in nanoseconds |
//!
//! The command shares the group of this process. So only the changes while it runs count: the growth of the counters, and a new
//! memory peak. An older peak belongs to another process and counts as absent.
//!
//! A missing or invalid file counts as absent.

use std::fs;
use std::path::{Path, PathBuf};

use renown_core::scorecard::Resources;
use renown_core::units::Whole;

/// The mount point of control groups.
const ROOT: &str = "/sys/fs/cgroup";

/// Version 1 expresses "no limit" as a number above all real memory sizes.
const NO_LIMIT_BYTES: u64 = 1 << 60;

/// The directories of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// Version 2: the directory of the group, and that of the root group.
    Unified { dir: PathBuf, root: PathBuf },
    /// Version 1: one directory for memory and one for the CPU, if they exist.
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
    /// Returns the group of this process, if the system has control groups.
    pub(super) fn own() -> Option<Self> {
        Self::find(Path::new(ROOT), &fs::read_to_string("/proc/self/cgroup").ok()?)
    }

    /// Returns the group that `/proc/self/cgroup` names, below the mount point.
    fn find(root: &Path, listed: &str) -> Option<Self> {
        let lines = || {
            listed.lines().filter_map(|line| {
                let (_, rest) = line.split_once(':')?;
                rest.split_once(':')
            })
        };
        // In a container, the path may be that of the host, which does not exist here. Then the root is the container's own group.
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

    /// Reads the counters.
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

    /// Reads the memory peak.
    fn memory_peak(&self) -> Option<u64> {
        match self {
            Self::Unified { dir, .. } => number(&dir.join("memory.peak")),
            Self::Split { memory, .. } => number(&memory.as_ref()?.join("memory.max_usage_in_bytes")),
        }
    }

    /// Returns the minimum memory limit of the group and its ancestors.
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

    /// Returns the resources used since `before` was read.
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
    use renown_testing::Scratch;

    use super::*;

    fn numbers(resources: Resources) -> [Option<u64>; 5] {
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
    fn version_2_files_are_read() {
        let group = "system.slice/docker-4f0c.scope";
        let stat = "usage_usec 5120000\nuser_usec 4000000\nsystem_usec 1120000\nnr_periods 40\nnr_throttled 10\nthrottled_usec 350999\nnr_bursts 0\n";
        let root = Scratch::with(&[
            ("cgroup.controllers", "cpuset cpu io memory hugetlb pids rdma misc\n"),
            (&format!("{group}/memory.peak"), "157286400\n"),
            (&format!("{group}/memory.max"), "max\n"),
            ("system.slice/memory.max", "536870912\n"),
            (&format!("{group}/cpu.stat"), stat),
        ]);
        let found = Group::find(root.path(), &format!("0::/{group}\n")).unwrap();
        let before = Counters {
            periods: Some(30),
            throttled_periods: Some(9),
            throttled_us: Some(100_000),
            memory_peak_bytes: Some(157_286_399),
        };
        assert_eq!(
            numbers(found.since(before)),
            [Some(157_286_400), Some(536_870_912), Some(10), Some(1), Some(250)]
        );
        let reached = Counters { memory_peak_bytes: Some(157_286_400), ..before };
        assert_eq!(numbers(found.since(reached))[0], None, "an earlier peak does not count");
        // In a container, the path of the host does not exist.
        let own = Group::find(root.path(), "0::/kubepods/pod1\n").unwrap();
        assert_eq!(own, Group::Unified { dir: root.path().to_owned(), root: root.path().to_owned() });
        assert_eq!(numbers(own.since(Counters::default())), [None; 5]);
    }

    #[test]
    fn version_1_files_are_read() {
        let root = Scratch::with(&[
            ("memory/job/memory.max_usage_in_bytes", "4096000\n"),
            ("memory/job/memory.limit_in_bytes", "9223372036854771712\n"),
            ("cpu,cpuacct/job/cpu.stat", "nr_periods 7\nnr_throttled 2\nthrottled_time 1500000000\n"),
        ]);
        let listed = "12:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/job\n";
        let found = Group::find(root.path(), listed).unwrap();
        let before = Counters {
            periods: Some(0),
            throttled_periods: Some(0),
            throttled_us: Some(0),
            memory_peak_bytes: Some(0),
        };
        assert_eq!(numbers(found.since(before)), [Some(4_096_000), None, Some(7), Some(2), Some(1500)]);
        root.write("memory/job/memory.limit_in_bytes", "8192000\n");
        assert_eq!(numbers(found.since(before))[1], Some(8_192_000));
    }

    #[test]
    fn missing_or_invalid_files_count_as_absent() {
        let root = Scratch::with(&[
            ("cgroup.controllers", ""),
            ("memory.peak", "much\n"),
            ("cpu.stat", "nr_periods -1\n"),
        ]);
        let found = Group::find(root.path(), "nonsense").unwrap();
        assert_eq!(numbers(found.since(Counters::default())), [None; 5]);
        // A counter that was reset counts as absent.
        root.write("cpu.stat", "nr_periods 1\n");
        let before = Counters { periods: Some(5), ..Counters::default() };
        assert_eq!(numbers(found.since(before))[2], None);
        assert_eq!(Group::find(&root.join("absent"), "0::/x\n"), None);
    }
}
