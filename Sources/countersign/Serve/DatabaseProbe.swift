/// Finds out whether the database can be written, without waiting for it longer than a limit.
///
/// A database that can't be reached takes half a minute to say so.
actor DatabaseProbe {
  private let longest: Duration
  private let write: @Sendable () async throws -> Void
  private var latest: Task<Void, Never>?
  private var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
  private var lastID = 0

  /// `longest` is how long a write may take.
  init(longest: Duration, write: @escaping @Sendable () async throws -> Void) {
    (self.longest, self.write) = (longest, write)
  }

  /// Returns whether a write succeeds in time; the one in progress, if there's one.
  func isWritable() async -> Bool {
    if latest == nil {
      latest = Task {
        complete((try? await write()) != nil)
      }
    }
    lastID += 1
    let id = lastID
    let limit = Task {
      try await Task.sleep(for: longest)
      waiting.removeValue(forKey: id)?.resume(returning: false)
    }
    defer { limit.cancel() }
    return await withCheckedContinuation { waiting[id] = $0 }
  }

  private func complete(_ isWritten: Bool) {
    latest = nil
    let all = waiting.values
    waiting = [:]
    for one in all { one.resume(returning: isWritten) }
  }
}
