import Identity
import JSON
import Synchronization

/// A cache of written project settings, without the MFA configuration.
///
/// Nearly all changes of a project are of its MFA configuration, so its other settings, with the
/// defaults of dozens of members, are written once and not with every response. An entry holds what
/// it was written from, so it's never stale.
final class WrittenSettings: Sendable {
  private struct Entry {
    let pool: UserPool
    let members: JSON.Object
  }

  /// The maximum number of cached projects; when it's exceeded, the cache is cleared.
  private let limit = 100
  private let entries = Mutex<[Int64: Entry]>([:])

  /// Returns the cached members if nothing that they were written from has changed, or else the
  /// result of `write`.
  func members(of pool: UserPool, orWrite write: () -> JSON.Object) -> JSON.Object {
    let key = pool.scope.key
    if let entry = entries.withLock({ $0[key] }), entry.pool.isWritten(like: pool) {
      return entry.members
    }
    let members = write()
    entries.withLock { entries in
      if entries.count >= limit { entries = [:] }
      entries[key] = Entry(pool: pool, members: members)
    }
    return members
  }
}

extension UserPool {
  fileprivate func isWritten(like other: UserPool) -> Bool {
    passwordsChangedAt == other.passwordsChangedAt && apiKey == other.apiKey
      && scope.projectNumber == other.scope.projectNumber
      && scope.project == other.scope.project && edit.hasSameSettings(as: other.edit)
  }
}
