import Foundation
import Identity
import IdentityToolkitAPI
import JSON

/// Exports users into a file, also while the server runs.
enum ExportCommand: Command {
  static let name = "export"
  static let summary = "exports users into a file as the Firebase command line does, JSON or CSV"
  static let operands = "FILE"
  static let options = [
    Instance.dataOption,
    Option("project", "P", variable: false, help: "The project whose users they are."),
    Option("tenant", "T", variable: false, help: "One tenant of the project."),
    Option(
      "format", "FORMAT", variable: false, help: "json or csv; else the name of the file tells."),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let path = try arguments.operand("the file to make")
    let format = try UserFileReader.Format(path: path, said: arguments.value("format"))
    return try await Instance.use(arguments) { instance in
      let scope = try await ImportCommand.scope(project, arguments.value("tenant"), instance)
      let accounts = instance.identity.accounts
      let file = try PrivateFile(path)
      // One moment for all of the file, however long it takes to write.
      let written = await instance.identity.atOneMoment {
        () -> Result<Written, any Error> in
        do { return .success(try await write(scope, format, accounts, file)) } catch {
          return .failure(error)
        }
      }
      let count = try written.get()
      try file.finish()
      try await accounts.recordDownload(
        of: scope, count: count.users, words: "by countersign export, with hashes of passwords",
        by: Author(actor: .commandLine))
      Terminal.say("\(count.users) users exported to \(path). It holds hashes of passwords.")
      if count.apps > 0 {
        Terminal.complain(
          "\(count.apps) of them have an authenticator app, which is not in the file.")
      }
      return 0
    }
  }

  private struct Written: Sendable {
    var users = 0
    /// Those with a factor that stays behind.
    var apps = 0
  }

  private nonisolated(nonsending) static func write(
    _ scope: Scope, _ format: UserFileReader.Format, _ accounts: Accounts, _ file: PrivateFile
  ) async throws -> Written {
    var written = Written()
    var toldAt = ContinuousClock.now
    var after: String?
    if format == .json { try file.write(Array("{\"users\": [".utf8)) }
    repeat {
      let page = try await accounts.export(scope, after: after, limit: 1_000)
      var bytes: [UInt8] = []
      for item in page.items {
        switch format {
        case .json:
          bytes += Array((written.users == 0 ? "\n" : ",\n").utf8)
          bytes += UserFile.json(item).serialized()
        case .csv: bytes += Array(UserFile.csv(item).utf8)
        }
        written.users += 1
        if item.account.has(.totp) { written.apps += 1 }
      }
      try file.write(bytes)
      after = page.next
      if ContinuousClock.now - toldAt >= .seconds(1) {
        toldAt = .now
        Terminal.complain("\(written.users) users written …")
      }
    } while after != nil
    if format == .json { try file.write(Array("\n]}\n".utf8)) }
    return written
  }
}

/// A file for its owner alone that appears under its name when it is whole and on the disk.
private final class PrivateFile: Sendable {
  private let path: String
  private let partial: String
  private let handle: FileHandle

  init(_ path: String) throws(ConfigurationError) {
    guard !FileManager.default.fileExists(atPath: path) else {
      throw ConfigurationError("\(path) is there already; it is not overwritten.")
    }
    self.path = path
    partial = "\(path).partial-\(ProcessInfo.processInfo.processIdentifier)"
    let made = FileManager.default.createFile(
      atPath: partial, contents: nil, attributes: [.posixPermissions: 0o600])
    guard made, let handle = FileHandle(forWritingAtPath: partial) else {
      throw ConfigurationError("\(path) cannot be written.")
    }
    self.handle = handle
  }

  deinit {
    try? handle.close()
    // Gone already where it was finished.
    try? FileManager.default.removeItem(atPath: partial)
  }

  func write(_ bytes: [UInt8]) throws {
    do { try handle.write(contentsOf: Data(bytes)) } catch { throw failure(error) }
  }

  func finish() throws {
    do {
      try handle.synchronize()
      try FileManager.default.moveItem(atPath: partial, toPath: path)
    } catch {
      throw failure(error)
    }
  }

  private func failure(_ error: any Error) -> ConfigurationError {
    ConfigurationError("\(path) cannot be written: \(error.localizedDescription)")
  }
}
