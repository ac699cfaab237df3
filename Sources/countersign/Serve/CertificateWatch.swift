import Crypto
import Foundation

/// Warns about a TLS certificate that has expired or soon will, at startup and once a day.
struct CertificateWatch: Sendable {
  let path: String
  var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
  var say: @Sendable (String) -> Void = { Terminal.complain($0) }

  private static let day = Duration.seconds(86_400)
  /// How long before its expiration a certificate is reported, in seconds; a third of its lifetime
  /// if that's shorter.
  static let notice: Int64 = 14 * 86_400

  /// Checks the file now.
  func check() {
    guard let data = FileManager.default.contents(atPath: path) else {
      say("The TLS certificate \(path) can no longer be read.")
      return
    }
    let certificates = Certificate.all(inPEM: Array(data))
    if certificates.isEmpty { say("There's no certificate in \(path).") }
    let now = now()
    for warning in certificates.compactMap({ Self.warning($0, at: now) }) {
      say("\(path): \(warning)")
    }
  }

  /// Checks the file once a day until the task is canceled.
  ///
  /// - Parameter sleep: Waits, and throws when canceled.
  func run(sleep: (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) async {
    while (try? await sleep(Self.day)) != nil { check() }
  }

  /// Returns the warning about a certificate; nil when it's valid and doesn't expire soon.
  static func warning(_ certificate: Certificate, at now: Int64) -> String? {
    let lifetime = certificate.notAfter - certificate.notBefore
    let left = certificate.notAfter - now
    if left <= 0 {
      return "the certificate of \(certificate.subject) expired on \(date(certificate.notAfter))."
    }
    if now < certificate.notBefore {
      return "the certificate of \(certificate.subject) isn't valid before "
        + "\(date(certificate.notBefore))."
    }
    guard left <= min(notice, lifetime / 3) else { return nil }
    let days = left / 86_400
    return "the certificate of \(certificate.subject) expires on \(date(certificate.notAfter)), in "
      + (days == 0 ? "less than a day." : days == 1 ? "1 day." : "\(days) days.")
  }

  private static func date(_ seconds: Int64) -> String {
    Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
  }
}
