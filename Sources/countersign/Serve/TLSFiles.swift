import Crypto
import HTTPServer
import Host
import Localization

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
