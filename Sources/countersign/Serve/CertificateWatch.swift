import Crypto
import Foundation
import Localization
import Synchronization

/// Warns about a TLS certificate that has expired or soon will, at startup and once a day.
struct CertificateWatch: Sendable {
  let path: String
  let served = ServedCertificate()
  var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
  var say: @Sendable (Message) -> Void

  private static let day = Duration.seconds(86_400)
  /// How long before its expiration a certificate is reported, in seconds; a third of its lifetime
  /// if that's shorter.
  static let notice: Int64 = 14 * 86_400

  func check() {
    guard let data = FileManager.default.contents(atPath: path) else {
      say(Message("The TLS certificate {path} can no longer be read.", ["path": .text(path)]))
      return
    }
    let certificates = Certificate.all(inPEM: Array(data))
    if certificates.isEmpty {
      say(Message("There's no certificate in {path}.", ["path": .text(path)]))
    }
    let now = now()
    for warning in certificates.compactMap({ Self.warning($0, at: now) }) {
      say(Message("{path}: {warning}", ["path": .text(path), "warning": .message(warning)]))
    }
  }

  func noteServed() {
    let data = FileManager.default.contents(atPath: path) ?? Data()
    served.note(Certificate.all(inPEM: Array(data)))
  }

  /// Checks the file once a day until the task is canceled.
  func run(sleep: (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) async {
    while (try? await sleep(Self.day)) != nil { check() }
  }

  /// Returns the warning about a certificate; nil when it's valid and doesn't expire soon.
  static func warning(_ certificate: Certificate, at now: Int64) -> Message? {
    let lifetime = certificate.notAfter - certificate.notBefore
    let left = certificate.notAfter - now
    if left <= 0 {
      return Message(
        "the certificate of {subject} expired on {date}.",
        ["subject": .text(certificate.subject), "date": .text(date(certificate.notAfter))])
    }
    if now < certificate.notBefore {
      return Message(
        "the certificate of {subject} isn't valid before {date}.",
        ["subject": .text(certificate.subject), "date": .text(date(certificate.notBefore))])
    }
    guard left <= min(notice, lifetime / 3) else { return nil }
    let (subject, end) = (certificate.subject, date(certificate.notAfter))
    let days = Int(left / 86_400)
    guard days > 0 else {
      return Message(
        "the certificate of {subject} expires on {date}, in less than a day.",
        ["subject": .text(subject), "date": .text(end)])
    }
    return Message(
      one: "the certificate of {subject} expires on {date}, in {count} day.",
      other: "the certificate of {subject} expires on {date}, in {count} days.",
      ["count": .number(days), "subject": .text(subject), "date": .text(end)])
  }

  static func date(_ seconds: Int64) -> String {
    Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
  }
}

/// The certificate that the server uses, which can be older than the one in the file.
final class ServedCertificate: Sendable {
  private let certificates = Mutex<[Certificate]>([])

  /// When the certificate or one of its chain expires, in seconds since 1970; nil without one.
  var notAfter: Int64? { certificates.withLock { $0.map(\.notAfter).min() } }

  func state(at now: Int64) -> (isValid: Bool, isFine: Bool) {
    let certificates = certificates.withLock { $0 }
    return (
      certificates.allSatisfy { $0.notBefore <= now && now <= $0.notAfter },
      certificates.allSatisfy { CertificateWatch.warning($0, at: now) == nil }
    )
  }

  func note(_ certificates: [Certificate]) {
    self.certificates.withLock { $0 = certificates }
  }
}
