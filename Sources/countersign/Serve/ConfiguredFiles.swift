import Crypto
import Foundation
import Localization

/// Checks the files and folders that the options of `serve` name.
struct ConfiguredFiles: Sendable {
  private let arguments: Arguments
  private var found: ConfigurationProblems

  /// What's wrong with them.
  var problems: [Message] { Array(found.messages.dropFirst(arguments.fileProblems.count)) }

  private init(checking arguments: Arguments) {
    self.arguments = arguments
    found = ConfigurationProblems(arguments)
  }

  init(_ arguments: Arguments) {
    self.init(checking: arguments)
    checkData()
    checkCertificate()
    checkReadable("policy-file")
    checkReadable(DatabaseLocation.passwordFile.name)
    checkAccessLog()
    checkBackups()
  }

  /// Returns what's wrong with the certificate and its key.
  static func certificateProblems(_ arguments: Arguments) -> [Message] {
    var files = ConfiguredFiles(checking: arguments)
    files.checkCertificate()
    return files.problems
  }

  private mutating func checkData() {
    let isEmulator = arguments.value("profile") == "emulator"
    guard !arguments.has("demo"), !isEmulator else { return }
    let folder = DataFolder(
      path: arguments.value("data") ?? ServeConfiguration.defaultData,
      // An invalid address is reported with the other options.
      location: (try? DatabaseLocation(arguments)) ?? .file)
    do {
      try folder.mustHoldInstance()
    } catch {
      for problem in error.problems { found.append(problem, of: "data") }
    }
  }

  private mutating func checkCertificate() {
    let key = checkReadable("tls-key")
    guard let certificate = checkReadable("tls-certificate") else { return }
    let path = Message.Value.text(arguments.value("tls-certificate") ?? "")
    guard !Certificate.all(inPEM: certificate).isEmpty else {
      found.append(Message("cli.theres-no-certificate-in", ["path": path]), of: "tls-certificate")
      return
    }
    guard let key else { return }
    switch Certificate.isKey(key, ofFirstIn: certificate) {
    case true?: break
    case false?:
      found.append(Message("cli.the-key-doesnt-match", ["path": path]), of: "tls-key")
    case nil:
      found.append(
        Message(
          "cli.theres-no-private-key-in", ["path": .text(arguments.value("tls-key") ?? "")]),
        of: "tls-key")
    }
  }

  private mutating func checkAccessLog() {
    guard let path = arguments.value("access-log"), !["-", "none"].contains(path) else { return }
    let files = FileManager.default
    let folder = (path as NSString).deletingLastPathComponent
    let place = files.fileExists(atPath: path) ? path : folder.isEmpty ? "." : folder
    guard !files.isWritableFile(atPath: place) else { return }
    found.append(
      Message("cli.file-cant-be-written", ["path": .text(path)]), of: "access-log")
  }

  private mutating func checkBackups() {
    guard let path = arguments.value("backups") else { return }
    do { try BackupFolder(path: path).mustHaveNoKey() } catch {
      for problem in error.problems { found.append(problem, of: "backups") }
    }
  }

  /// Reads the file that an option names, if it's given.
  @discardableResult
  private mutating func checkReadable(_ name: String) -> [UInt8]? {
    guard let path = arguments.value(name) else { return nil }
    guard let data = FileManager.default.contents(atPath: path) else {
      found.append(Message("cli.path-cant-be-read", ["path": .text(path)]), of: name)
      return nil
    }
    return Array(data)
  }
}
