import Database
import OTP
import Testing

@testable import Console
@testable import Identity

extension World {
  /// Records code attempts of a user, oldest first, one minute apart, the last one now.
  ///
  /// Backup codes have no `window`.
  func write(
    _ findings: [CodeFinding], of uid: String, window: Window? = .standard, agent: String = "",
    address: String = "203.0.113.9"
  ) async throws {
    let pool = try await euPool
    let now = clock.now
    try await database.write { connection in
      for (number, finding) in findings.enumerated() {
        let account = try #require(try AccountRecord.find(pool, ID(uid), connection))
        let attempt = CodeAttemptRecorder(
          account: account, pool: pool, way: .app, enrollment: account.factors.first?.id,
          window: window, origin: RequestOrigin(address: address, userAgent: agent))
        let at = now.advanced(bySeconds: Int64(number - findings.count + 1) * 60)
        if finding.result.isSuccess {
          try attempt.pass(finding, at: at, connection)
        } else {
          _ = try attempt.fail(finding, at: at, connection)
        }
      }
    }
  }
}
