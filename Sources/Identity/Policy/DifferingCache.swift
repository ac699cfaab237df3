import Synchronization

/// Which tenants of a project differ from it, kept until something that decides it changes.
///
/// The stamp of a project grows with each such change, in the write of the change itself, so what is
/// kept under the stamp that a snapshot shows is true in that snapshot.
final class DifferingCache: Sendable {
  private struct Entry {
    let stamp: Int64
    let value: DifferingTenants?
  }

  /// How many projects are kept; when there are more, all are forgotten.
  private static let limit = 5_000
  private let entries = Mutex<[ID<Project>: Entry]>([:])

  /// What is kept for a project under a stamp, or else what `read` finds.
  func value(
    of project: ID<Project>, stamp: Int64, orRead read: () throws -> DifferingTenants?
  ) rethrows -> DifferingTenants? {
    if let entry = entries.withLock({ $0[project] }), entry.stamp == stamp { return entry.value }
    let value = try read()
    entries.withLock { entries in
      if entries.count >= Self.limit { entries = [:] }
      entries[project] = Entry(stamp: stamp, value: value)
    }
    return value
  }
}
