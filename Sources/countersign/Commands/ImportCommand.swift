import Crypto
import Foundation
import Identity
import IdentityToolkitAPI
import Localization

/// Imports users from a file, even while the server runs.
///
/// Each batch is one transaction, and existing users are skipped, so an interrupted import
/// continues when it's run again.
enum ImportCommand: Command {
  static let name = "import"
  static let summary = Message(
    "imports users from a JSON or CSV file in the format of the Firebase CLI")
  static let operands = "FILE"
  static let options =
    Instance.options + [
      Option("project", "P", variable: false, help: Message("The project to import into.")),
      Option(
        "tenant", "T", variable: false,
        help: Message("Import into this tenant of the project instead.")),
      Option(
        "overwrite", variable: false,
        help: Message("Replace existing users (default: leave them unchanged).")),
      Option(
        "format", "FORMAT", variable: false,
        help: Message("json or csv (default: by file extension).")),
    ] + HashOptions.all

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let path = try arguments.operand(Message("the file to import"))
    let format = try UserFileReader.Format(path: path, option: arguments.value("format"))
    let parameters = try HashOptions.parameters(arguments)
    return try await Instance.use(arguments) { instance in
      let pool = try await instance.pool(project, tenant: arguments.value("tenant"))
      let file: UserFile
      do throws(HashParameterError) {
        file = try UserFile(hashes: parameters, profile: instance.identity.profile)
      } catch {
        throw UsageError(HashOptions.sentence(error))
      }
      let reader = try UserFileReader(path: path, format: format, file: file)
      var task = ImportTask(
        imports: instance.identity.imports, pacer: instance.identity.pacer, pool: pool,
        name: path.split(separator: "/").last.map(String.init) ?? path,
        existing: arguments.has("overwrite") ? .replace : .keep)
      return try await task.run(reader)
    }
  }
}

extension ImportCommand {
  private static let retries = 5
  /// The number of users in a transaction.
  fileprivate static let part = 100

  /// Stores a batch, again if the database is busy: a running server writes to it as well.
  ///
  /// Each attempt has waited for the database by itself.
  static func retryingWhileBusy<T>(_ store: () async throws -> T) async throws -> T {
    for _ in 0..<retries {
      do { return try await store() } catch {
        guard Failure(of: error)?.isBusy == true else { throw error }
      }
    }
    return try await store()
  }
}

private struct ImportTask {
  let imports: Imports
  let pacer: Pacer
  let pool: Pool
  let name: String
  let existing: ImportOptions.Existing

  private let author = Author(actor: .commandLine)
  var total = ImportOutcome()
  var read = 0
  var hasBegun = false
  var reportedAt = ContinuousClock.now

  /// Imports the whole file, reading each batch while the previous one is being stored.
  mutating func run(_ reader: UserFileReader) async throws -> Int32 {
    var reader = reader
    var stored: Task<ImportOutcome, any Error>?
    var rows: [FileRow] = []
    var trouble: UserFileError?
    repeat {
      let next: [FileRow]
      do {
        next = try reader.next(ImportCommand.part)
      } catch let error as UserFileError {
        trouble = error
        next = []
      }
      if let stored {
        do { account(try await stored.value, rows) } catch { throw await stop(error) }
      }
      rows = next
      stored = rows.isEmpty ? nil : store(rows)
    } while stored != nil
    if hasBegun {
      try await imports.recordEnd(
        total, of: pool, name: name, isComplete: trouble == nil, by: author)
    }
    return finish(trouble)
  }

  private mutating func store(_ rows: [FileRow]) -> Task<ImportOutcome, any Error> {
    var options = ImportOptions(existing: existing)
    options.record = hasBegun ? .nothing : .beginning(name)
    hasBegun = true
    let list = rows.map(\.row)
    return Task { [imports, pacer, pool, author, options] in
      var outcome: ImportOutcome?
      // The second turn is after the pause.
      try await pacer.run {
        guard outcome == nil else { return false }
        outcome = try await ImportCommand.retryingWhileBusy {
          try await imports.run(pool, list, options, by: author)
        }
        return true
      }
      return outcome ?? ImportOutcome()
    }
  }

  private mutating func account(_ outcome: ImportOutcome, _ rows: [FileRow]) {
    for refusal in outcome.refusals {
      let row = rows[refusal.index]
      let (line, user) = (String(row.line), String(read + refusal.index))
      let problem = Terminal.excerpt(refusal.fault.text)
      if case .success(let new) = row.row, !new.localID.isEmpty {
        Terminal.complain(
          Message(
            "line {line}, user {user} ({uid}): {problem}",
            [
              "line": .text(line), "user": .text(user), "uid": .text(Terminal.excerpt(new.localID)),
              "problem": .text(problem),
            ]))
      } else {
        Terminal.complain(
          Message(
            "line {line}, user {user}: {problem}",
            ["line": .text(line), "user": .text(user), "problem": .text(problem)]))
      }
    }
    total.created += outcome.created
    total.replaced += outcome.replaced
    total.kept += outcome.kept
    total.refusals += outcome.refusals
    read += rows.count
    guard ContinuousClock.now - reportedAt >= .seconds(1) else { return }
    reportedAt = .now
    Terminal.complain(
      Message(
        one: "{count} user read, {imported} imported …",
        other: "{count} users read, {imported} imported …",
        ["count": .number(read), "imported": .number(total.created)]))
  }

  /// Says what was stored before a batch failed, and that the rest can be imported by repeating it.
  private func stop(_ error: any Error) async -> any Error {
    guard let failure = ConfigurationError(database: error) else { return error }
    // Not without its beginning, which is stored with the first batch.
    if read > 0 {
      try? await imports.recordEnd(total, of: pool, name: name, isComplete: false, by: author)
    }
    sayTotal()
    var stopped = failure
    stopped.problems.append(
      existing == .keep
        ? Message(
          """
          The import stopped. Users that were imported are stored. Repeat the command to import \
          the rest: existing users are left unchanged.
          """)
        : Message(
          """
          The import stopped. Users that were imported or replaced are stored. Repeat the command \
          to import the rest: existing users, also those of this import, are replaced again.
          """))
    return stopped
  }

  private func finish(_ trouble: UserFileError?) -> Int32 {
    sayTotal()
    if let trouble {
      Terminal.complain(
        Message(
          "The rest of the file couldn't be read. {reason}", ["reason": .message(trouble.message)]))
    }
    return trouble == nil && total.refusals.isEmpty ? 0 : 1
  }

  private func sayTotal() {
    var results = [Message("{users} imported", ["users": .number(total.created)])]
    if total.replaced > 0 {
      results.append(Message("{users} replaced", ["users": .number(total.replaced)]))
    }
    if total.kept > 0 {
      results.append(
        Message("{users} already existed, left unchanged", ["users": .number(total.kept)]))
    }
    if !total.refusals.isEmpty {
      results.append(Message("{users} rejected", ["users": .number(total.refusals.count)]))
    }
    Terminal.say(
      Message(
        one: "{count} user read: {results}.", other: "{count} users read: {results}.",
        ["count": .number(read), "results": .sequence(results)]))
  }
}
