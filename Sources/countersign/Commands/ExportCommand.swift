import Foundation
import Identity
import IdentityToolkitAPI
import JSON
import Localization

enum ExportCommand: Command {
  static let name = "export"
  static let summary = Message(
    "exports users to a JSON or CSV file in the format of the Firebase CLI")
  static let operands = "FILE"
  static let options =
    Instance.options + [
      Option("project", "P", variable: false, help: Message("The project to export.")),
      Option(
        "tenant", "T", variable: false,
        help: Message("Export this tenant of the project instead.")),
      Option(
        "format", "FORMAT", variable: false,
        help: Message("json or csv (default: by file extension).")),
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let path = try arguments.fileToCreate()
    let format = try UserFileReader.Format(path: path, option: arguments.value("format"))
    return try await Instance.use(arguments) { instance in
      let pool = try await instance.pool(project, tenant: arguments.value("tenant"))
      let accounts = instance.identity.accounts
      let file = try PrivateFile(path)
      // The whole file shows one point in time, no matter how long it takes to write.
      let written = await instance.identity.atOneMoment {
        () -> Result<Written, any Error> in
        do { return .success(try await write(pool, format, accounts, file)) } catch {
          return .failure(error)
        }
      }
      let count = try written.get()
      // First, so that no file with password hashes is missing from the audit log.
      try await accounts.recordHashDownload(
        of: pool, count: count.users, by: Author(actor: .commandLine))
      try file.finish()
      Terminal.say(
        Message(
          one: "Exported {count} user to {path}. It contains password hashes.",
          other: "Exported {count} users to {path}. It contains password hashes.",
          ["count": .number(count.users), "path": .text(path)]))
      if count.apps > 0 {
        Terminal.complain(
          Message(
            one: "{count} of them has a TOTP factor, which isn't exported.",
            other: "{count} of them have TOTP factors, which aren't exported.",
            ["count": .number(count.apps)]))
      }
      if count.phones > 0 {
        Terminal.complain(
          Message(
            one: """
              {count} of them has a phone factor, which CSV files can't contain: imported from \
              this file, the user signs in without it. Use JSON to keep it.
              """,
            other: """
              {count} of them have phone factors, which CSV files can't contain: imported from \
              this file, these users sign in without them. Use JSON to keep them.
              """, ["count": .number(count.phones)]))
      }
      if count.identities > 0 {
        Terminal.complain(
          Message(
            one: """
              {count} of them has an identity of a provider without a column in CSV files, which \
              isn't exported. Use JSON to keep it.
              """,
            other: """
              {count} of them have identities of providers without a column in CSV files, which \
              aren't exported. Use JSON to keep them.
              """, ["count": .number(count.identities)])
        )
      }
      return 0
    }
  }

  private struct Written: Sendable {
    var users = 0
    /// Users with a TOTP factor, which isn't exported.
    var apps = 0
    /// Users with a phone factor, which CSV files don't have.
    var phones = 0
    /// Users with an identity of a provider that CSV files don't have.
    var identities = 0
  }

  private nonisolated(nonsending) static func write(
    _ pool: Pool, _ format: UserFileReader.Format, _ accounts: Accounts, _ file: PrivateFile
  ) async throws -> Written {
    var written = Written()
    var reportedAt = ContinuousClock.now
    var after: String?
    if format == .json { try file.write(Array("{\"users\": [".utf8)) }
    repeat {
      let page = try await accounts.export(pool, after: after, limit: 1_000)
      var bytes: [UInt8] = []
      for item in page.items {
        switch format {
        case .json:
          bytes += Array((written.users == 0 ? "\n" : ",\n").utf8)
          bytes += UserFile.json(item).serialized()
        case .csv:
          bytes += Array(UserFile.csv(item).utf8)
          if item.account.has(.phone) { written.phones += 1 }
          if item.account.providers.contains(where: { !UserFile.csvHasColumn($0) }) {
            written.identities += 1
          }
        }
        written.users += 1
        if item.account.has(.totp) { written.apps += 1 }
      }
      try file.write(bytes)
      after = page.next
      if ContinuousClock.now - reportedAt >= .seconds(1) {
        reportedAt = .now
        Terminal.complain(
          Message(
            one: "{count} user written …", other: "{count} users written …",
            ["count": .number(written.users)]))
      }
    } while after != nil
    if format == .json { try file.write(Array("\n]}\n".utf8)) }
    return written
  }
}
