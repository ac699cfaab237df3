import CSQLite
import Database
import Synchronization

/// The first error of a statement that shows that a file is damaged.
final class DamageMark: Sendable {
  private let found = Mutex<DatabaseError?>(nil)
  private let stream: AsyncStream<DatabaseError>
  private let continuation: AsyncStream<DatabaseError>.Continuation

  init() {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
  }

  /// The error; nil as long as there was none.
  var error: DatabaseError? { found.withLock { $0 } }

  /// The error, once there is one.
  var errors: AsyncStream<DatabaseError> { stream }

  /// Keeps an error if it's the first of damage.
  ///
  /// A search index that doesn't match isn't damage of the file: it can be created again.
  func note(_ error: DatabaseError) {
    guard error.code == .corrupt || error.code == .notADatabase,
      error.extendedCode != SQLITE_CORRUPT | 1 << 8
    else { return }
    let isFirst = found.withLock { found in
      defer { if found == nil { found = error } }
      return found == nil
    }
    if isFirst { continuation.yield(error) }
  }
}
