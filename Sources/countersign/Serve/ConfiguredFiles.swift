import Crypto
import Foundation
import Glibc
import Host
import Identity
import Localization

struct ConfiguredFiles: Sendable {
  private let arguments: Arguments
  private var found: ConfigurationProblems

  var problems: [Message] { Array(found.messages.dropFirst(arguments.fileProblems.count)) }

  private init(checking arguments: Arguments) {
    self.arguments = arguments
    found = ConfigurationProblems(arguments)
  }

  /// `withData` is whether the data folder must have an instance.
  init(_ arguments: Arguments, withData: Bool = true) {
    self.init(checking: arguments)
    if withData { checkData() }
    checkCertificate()
    checkPolicyFile()
    checkReadable(DatabaseLocation.passwordFile.name)
    for name in ["access-log", "audit-file"] { checkWritable(name) }
    checkBackups()
  }

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
      try folder.mustHoldOpenInstance()
      try folder.mustBeWritable()
    } catch {
      found.append(error, of: "data")
    }
    for finding in folder.foreignFiles {
      let parts = [finding.message, finding.advice].compactMap(\.self)
      found.append(Finding.joined(parts), of: "data")
    }
  }

  private mutating func checkCertificate() {
    let path = arguments.value("tls-certificate")
    let (certificates, faults) = TLSFiles(certificate: path, key: arguments.value("tls-key")).read()
    for fault in faults { found.append(fault.error, of: fault.option) }
    guard let path, let first = certificates.first,
      first.notAfter < WallClock.system.now().seconds
    else { return }
    found.append(
      Message("The certificate in {path} has expired. Renew it.", ["path": .text(path)]),
      of: "tls-certificate")
  }

  private mutating func checkPolicyFile() {
    guard let data = checkReadable("policy-file"), let path = arguments.value("policy-file") else {
      return
    }
    do { _ = try PolicyFileReader.parse(data, of: path) } catch {
      found.append(error, of: "policy-file")
    }
  }

  private mutating func checkWritable(_ name: String) {
    guard let path = arguments.value(name), !["-", "none"].contains(path) else { return }
    let files = FileManager.default
    let folder = (path as NSString).deletingLastPathComponent
    let place = files.fileExists(atPath: path) ? path : folder.isEmpty ? "." : folder
    let error = DataFolder.isFolder(path) ? SystemError(EISDIR) : WritableFile.obstacle(place)
    guard let error else { return }
    found.append(ConfigurationError(writing: path, error), of: name)
  }

  private mutating func checkBackups() {
    guard let path = arguments.value("backups") else { return }
    if !DataFolder.isFolder(path) {
      found.append(
        Message("The folder {path} doesn't exist.", ["path": .text(path)]), of: "backups")
    }
    do { try BackupFolder(path: path).mustHaveNoKey() } catch {
      found.append(error, of: "backups")
    }
  }

  @discardableResult
  private mutating func checkReadable(_ name: String) -> [UInt8]? {
    guard let path = arguments.value(name) else { return nil }
    do { return try ReadableFile.contents(path) } catch {
      found.append(ConfigurationError(reading: path, of: name, error), of: name)
      return nil
    }
  }
}
