import Crypto
import Foundation
import HTTPServer
import Host
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

  var repeated: RepeatedTask { RepeatedTask(nil, every: Self.day, atOnce: false) { check() } }

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

struct TLSFiles: Sendable {
  let certificate: String?
  let key: String?

  /// Something that keeps the server from using them, with the option that names the file.
  typealias Fault = (option: String, error: ConfigurationError)

  func read() -> (certificates: [Certificate], faults: [Fault]) {
    var faults: [Fault] = []
    func content(_ path: String?, _ option: String) -> [UInt8]? {
      guard let path else { return nil }
      do { return try ReadableFile.contents(path) } catch {
        faults.append((option, ConfigurationError(reading: path, of: option, error)))
        return nil
      }
    }
    func add(_ option: String, _ problem: Message) {
      faults.append((option, ConfigurationError(problem)))
    }
    let keyText = content(key, "tls-key")
    guard let certificate, let text = content(certificate, "tls-certificate") else {
      return ([], faults)
    }
    let path = Message.Value.text(certificate)
    let certificates = Certificate.all(inPEM: text)
    if certificates.isEmpty {
      add("tls-certificate", Message("There's no certificate in {path}.", ["path": path]))
    } else if let key, let keyText {
      switch Certificate.isKey(keyText, ofFirstIn: text) {
      case true?: break
      case false?:
        add(
          "tls-key",
          Message("The private key doesn't belong to the certificate in {path}.", ["path": path]))
      case nil:
        add(
          "tls-key",
          Message("There's no private key in {path}, or it's encrypted.", ["path": .text(key)]))
      }
    }
    return (certificates, faults)
  }

  /// Returns why the server couldn't use the files, with the name of the one that's wrong if it's
  /// known.
  func reason(for error: ServerError) -> ConfigurationError {
    guard case .cannotStart = error, let fault = read().faults.first else {
      return ConfigurationError(.verbatim("\(error)"), isTemporary: error.isTemporary)
    }
    return fault.error
  }
}

extension TLSFiles {
  /// Checks a file of certificates to trust.
  ///
  /// - Returns: What's wrong with it; nil if nothing is.
  static func problem(ofAuthorities path: String, option: String) -> ConfigurationError? {
    let data: [UInt8]
    do { data = try ReadableFile.contents(path) } catch {
      return ConfigurationError(reading: path, of: option, error)
    }
    guard Certificate.all(inPEM: data).isEmpty else { return nil }
    return ConfigurationError(
      Message(
        "The --{name} file {file} has no certificate in PEM format.",
        ["name": .text(option), "file": .text(path)]))
  }

  /// The files that a server uses; none for plain HTTP.
  init(_ tls: ServerConfiguration.TLS?) {
    self.init(certificate: tls?.certificate, key: tls?.key)
  }
}
