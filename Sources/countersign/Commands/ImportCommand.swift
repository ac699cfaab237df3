import Crypto
import Foundation
import Identity
import IdentityToolkitAPI

/// Imports users from a file, even while the server runs.
///
/// Each batch is one transaction, and existing users are skipped, so an interrupted import
/// continues when it's run again.
enum ImportCommand: Command {
  static let name = "import"
  static let summary = "imports users from a JSON or CSV file in the format of the Firebase CLI"
  static let operands = "FILE"
  static let options =
    [
      Instance.dataOption,
      Option("project", "P", variable: false, help: "The project to import into."),
      Option(
        "tenant", "T", variable: false, help: "Import into this tenant of the project instead."),
      Option(
        "overwrite", variable: false,
        help: "Replace existing users (default: leave them unchanged)."),
      Option(
        "format", "FORMAT", variable: false, help: "json or csv (default: by file extension)."),
    ] + HashOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let path = try arguments.operand("the file to import")
    let format = try UserFileReader.Format(path: path, option: arguments.value("format"))
    let parameters = try HashOptions.parameters(arguments)
    return try await Instance.use(arguments) { instance in
      let scope = try await Self.scope(project, arguments.value("tenant"), instance)
      let file: UserFile
      do throws(HashParameterError) {
        file = try UserFile(hashes: parameters, profile: instance.identity.profile)
      } catch {
        throw UsageError(message: HashOptions.sentence(error))
      }
      let reader = try UserFileReader(path: path, format: format, file: file)
      var task = ImportTask(
        imports: instance.identity.imports, scope: scope,
        name: path.split(separator: "/").last.map(String.init) ?? path,
        existing: arguments.has("overwrite") ? .replace : .keep)
      return try await task.run(reader)
    }
  }

  static func scope(
    _ project: String, _ tenant: String?, _ instance: Instance
  ) async throws -> Scope {
    do {
      return try await instance.identity.scopes.existing(
        project: ID(project), tenant: tenant.map { ID($0) })
    } catch {
      if case .unavailable = error { throw error }
      throw ConfigurationError("Project or tenant not found.")
    }
  }
}

/// An import in progress.
private struct ImportTask {
  let imports: Imports
  let scope: Scope
  let name: String
  let existing: ImportOptions.Existing

  private let author = Author(actor: .commandLine)
  private var total = ImportOutcome()
  private var read = 0
  private var refused = 0
  private var hasBegun = false
  private var reportedAt = ContinuousClock.now

  init(imports: Imports, scope: Scope, name: String, existing: ImportOptions.Existing) {
    self.imports = imports
    self.scope = scope
    self.name = name
    self.existing = existing
  }

  /// Imports the whole file, reading each batch while the previous one is being stored.
  mutating func run(_ reader: UserFileReader) async throws -> Int32 {
    var reader = reader
    var stored: Task<ImportOutcome, any Error>?
    var rows: [FileRow] = []
    var trouble: UserFileError?
    repeat {
      let next: [FileRow]
      do {
        next = try reader.next(Imports.mostRows)
      } catch let error as UserFileError {
        trouble = error
        next = []
      }
      if let stored { account(try await stored.value, rows) }
      rows = next
      stored = rows.isEmpty ? nil : store(rows)
    } while stored != nil
    if hasBegun {
      try await imports.recordEnd(
        total, of: scope, name: trouble == nil ? name : "\(name) (incomplete)", by: author)
    }
    return finish(trouble)
  }

  private mutating func store(_ rows: [FileRow]) -> Task<ImportOutcome, any Error> {
    var options = ImportOptions(existing: existing)
    options.record = hasBegun ? .nothing : .beginning(name)
    hasBegun = true
    let list = rows.map(\.row)
    return Task { [imports, scope, author, options] in
      var tries = 0
      while true {
        do {
          return try await imports.run(scope, list, options, by: author)
        } catch ImportError.unavailable(let failure) where tries < 5 {
          // A running server writes to the same database.
          tries += 1
          guard failure.description.contains("busy") else { throw ImportError.unavailable(failure) }
        }
      }
    }
  }

  private mutating func account(_ outcome: ImportOutcome, _ rows: [FileRow]) {
    for refusal in outcome.refusals {
      let row = rows[refusal.index]
      var who = "user \(read + refusal.index)"
      if case .success(let user) = row.row, !user.localID.isEmpty {
        who += " (\(Terminal.plain(user.localID)))"
      }
      Terminal.complain("line \(row.line), \(who): \(Terminal.plain(refusal.fault.text))")
    }
    total.created += outcome.created
    total.replaced += outcome.replaced
    total.kept += outcome.kept
    total.refusals += outcome.refusals
    read += rows.count
    guard ContinuousClock.now - reportedAt >= .seconds(1) else { return }
    reportedAt = .now
    Terminal.complain("\(read) users read, \(total.created) imported …")
  }

  private func finish(_ trouble: UserFileError?) -> Int32 {
    var words = ["\(total.created) imported"]
    if total.replaced > 0 { words.append("\(total.replaced) replaced") }
    if total.kept > 0 { words.append("\(total.kept) already existed, left unchanged") }
    if !total.refusals.isEmpty { words.append("\(total.refusals.count) rejected") }
    Terminal.say("\(read) users read: \(words.joined(separator: ", ")).")
    if let trouble {
      Terminal.complain("The rest of the file couldn't be read. \(trouble.message)")
    }
    return trouble == nil && total.refusals.isEmpty ? 0 : 1
  }
}

extension Terminal {
  /// Returns untrusted text with control characters replaced, at most 300 scalars long.
  static func plain(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.prefix(300).map { scalar in
          scalar.value < 32 || (127...159).contains(scalar.value) ? "\u{FFFD}" : scalar
        }))
  }
}
