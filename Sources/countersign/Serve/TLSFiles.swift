import Crypto
import Foundation
import HTTPServer
import Localization

/// The files of the TLS certificate and its private key.
struct TLSFiles: Sendable {
  /// The path of the certificate; nil if it isn't set.
  let certificate: String?
  /// The path of the private key; nil if it isn't set.
  let key: String?

  /// Something that keeps the server from using them, with the option that names the file.
  typealias Fault = (option: String, problem: Message)

  /// Reads the files.
  ///
  /// - Returns: The certificates, and what's wrong with the files.
  func read() -> (certificates: [Certificate], faults: [Fault]) {
    var faults: [Fault] = []
    func content(_ path: String?, _ option: String) -> [UInt8]? {
      guard let path else { return nil }
      if let data = FileManager.default.contents(atPath: path) { return Array(data) }
      faults.append((option, Message("cli.path-cant-be-read", ["path": .text(path)])))
      return nil
    }
    let keyText = content(key, "tls-key")
    guard let certificate, let text = content(certificate, "tls-certificate") else {
      return ([], faults)
    }
    let path = Message.Value.text(certificate)
    let certificates = Certificate.all(inPEM: text)
    if certificates.isEmpty {
      faults.append(("tls-certificate", Message("cli.theres-no-certificate-in", ["path": path])))
    } else if let key, let keyText {
      switch Certificate.isKey(keyText, ofFirstIn: text) {
      case true?: break
      case false?: faults.append(("tls-key", Message("cli.the-key-doesnt-match", ["path": path])))
      case nil:
        faults.append(("tls-key", Message("cli.theres-no-private-key-in", ["path": .text(key)])))
      }
    }
    return (certificates, faults)
  }

  /// Returns why the server couldn't use the files, with the name of the one that's wrong if it's
  /// known.
  func reason(for error: ServerError) -> String {
    guard case .cannotStart = error, let fault = read().faults.first else { return "\(error)" }
    return OperatorText.string(fault.problem)
  }
}

extension TLSFiles {
  /// Checks a file of certificates to trust.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - option: The option that names it.
  /// - Returns: What's wrong with it; nil if nothing is.
  static func problem(ofAuthorities path: String, option: String) -> Message? {
    guard let data = FileManager.default.contents(atPath: path) else {
      return Message(
        "cli.the-ca-file-cant-be-read", ["name": .text(option), "file": .text(path)])
    }
    guard Certificate.all(inPEM: Array(data)).isEmpty else { return nil }
    return Message(
      "cli.the-ca-file-has-no-certificate", ["name": .text(option), "file": .text(path)])
  }

  /// The files that a server uses; none for plain HTTP.
  init(_ tls: ServerConfiguration.TLS?) {
    self.init(certificate: tls?.certificate, key: tls?.key)
  }
}
