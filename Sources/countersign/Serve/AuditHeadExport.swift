import Identity
import Synchronization

/// The export of signed heads to a file, and whether its last attempt failed.
final class AuditHeadExport: Sendable {
  private let file: AuditHeadFile
  private let log: Log
  /// Why the last attempt failed; nil if it didn't.
  private let problem = Mutex<String?>(nil)

  /// Creates an export; nil without a file.
  init?(to file: AuditHeadFile?, log: Log) {
    guard let file else { return nil }
    (self.file, self.log) = (file, log)
  }

  /// Whether the file couldn't be read or written at the last attempt.
  var isFailing: Bool { problem.withLock { $0 != nil } }

  /// Uses the file, and logs when that fails for another reason than before, or works again.
  ///
  /// - Parameter use: Reads or writes the file; its errors are the file's.
  /// - Returns: The result; nil if the file can't be used.
  func attempt<Result>(_ use: (AuditHeadFile) throws(ConfigurationError) -> Result) -> Result? {
    do {
      let result = try use(file)
      if problem.withLock({ $0.take() }) != nil { log.add(.auditHeadsWritten(path: file.path)) }
      return result
    } catch {
      let reason = "\(error)"
      let former = problem.withLock { former in
        defer { former = reason }
        return former
      }
      if former != reason { log.add(.auditHeadsNotWritten(path: file.path, reason: reason)) }
      return nil
    }
  }

  /// Forgets a failure, because another server exports from now on.
  func pause() { problem.withLock { $0 = nil } }
}
