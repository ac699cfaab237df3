import Foundation
import Identity
import JSON

/// Prints the policies of all pools as a file.
enum PolicyExportCommand: Command {
  static let name = "policy export"
  static let summary = "prints the MFA policies of all pools as JSON, always in the same order"
  static let options = [
    Instance.dataOption,
    Option("project", "P", variable: false, help: "Only this project and its tenants."),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = arguments.value("project").map { ID<Project>($0) }
    return try await Instance.use(arguments) { instance in
      do throws(PolicyFileError) {
        let file = try await instance.identity.policies.file(of: project)
        FileHandle.standardOutput.write(Data(file.serialized()))
        return 0
      } catch .problems {
        throw ConfigurationError("Project not found.")
      }
    }
  }
}

/// Compares the policies with a file.
enum PolicyDiffCommand: Command {
  static let name = "policy diff"
  static let summary = "prints how policies differ from a file; exits 1 if any does, 2 on an error"
  static let operands = "FILE"
  static let options = [Instance.dataOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let path = try arguments.operand("the policy file")
    do {
      return try await Instance.use(arguments) { instance in
        let file = try PolicyFileReader.read(path)
        let drifts = try await PolicyFileReader.explaining(path) { () throws(PolicyFileError) in
          try await instance.identity.policies.drift(from: file)
        }
        for line in drifts.flatMap(\.lines) { Terminal.say(line) }
        return drifts.isEmpty ? 0 : 1
      }
    } catch let error as ConfigurationError {
      for problem in error.problems { Terminal.complain(problem) }
      return 2
    } catch {
      Terminal.complain("countersign \(name): \(error)")
      return 2
    }
  }
}

/// Changes the policies to those of a file.
enum PolicyApplyCommand: Command {
  static let name = "policy apply"
  static let summary = "changes the policies to those of a file, all or none"
  static let operands = "FILE"
  static let options = [
    Instance.dataOption,
    Option("dry-run", variable: false, help: "Print the changes without making them."),
    Option(
      "reason", "TEXT", variable: false,
      help: "Reason in the audit log; required if a policy becomes weaker."),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let path = try arguments.operand("the policy file")
    let (reason, isDryRun) = (arguments.value("reason"), arguments.has("dry-run"))
    return try await Instance.use(arguments) { instance in
      let file = try PolicyFileReader.read(path)
      let drifts = try await PolicyFileReader.explaining(path) { () throws(PolicyFileError) in
        try await instance.identity.policies.apply(
          file, because: reason, by: Author(actor: .commandLine), isDryRun: isDryRun)
      }
      for line in drifts.flatMap(\.lines) { Terminal.say(line) }
      let count = drifts.count == 1 ? "1 policy" : "\(drifts.count) policies"
      Terminal.complain(
        isDryRun
          ? "\(count) would change. Nothing was changed."
          : drifts.isEmpty
            ? "Nothing to change." : "\(count) changed. Export again for the new versions.")
      return 0
    }
  }
}

/// Prints the JSON schema of policy files.
enum PolicySchemaCommand: Command {
  static let name = "policy schema"
  static let summary = "prints the JSON schema of policy files"
  static let options: [Option] = []

  static func run(_ arguments: Arguments) async throws -> Int32 {
    Terminal.say(PolicyFileSchema.text)
    return 0
  }
}

/// Reads policy files, and explains what's wrong with them.
enum PolicyFileReader {
  /// The size of the largest file, in bytes.
  static let most = 16 << 20

  /// Reads a file.
  ///
  /// - Throws: `ConfigurationError` with a line for each problem.
  static func read(_ path: String) throws(ConfigurationError) -> PolicyFile {
    let data: Data
    do {
      data = try Data(contentsOf: URL(filePath: path))
    } catch {
      throw ConfigurationError("\(path) can't be read: \(error.localizedDescription)")
    }
    guard data.count <= most else {
      throw ConfigurationError("\(path) is larger than \(most >> 20) MiB.")
    }
    do throws(PolicyFileError) { return try PolicyFile(parsing: Array(data)) } catch {
      throw ConfigurationError(error.lines(of: path))
    }
  }

  /// Runs `body` and explains its error.
  nonisolated(nonsending) static func explaining<Value>(
    _ path: String,
    _ body: nonisolated(nonsending) () async throws(PolicyFileError) -> Value
  ) async throws(ConfigurationError) -> Value {
    do { return try await body() } catch { throw ConfigurationError(error.lines(of: path)) }
  }
}

extension PolicyDrift {
  /// The difference in each field, from the current value to that of the file.
  var lines: [String] {
    let scope = policy.scope
    let pool = scope.tenant.map { "\(scope.project)/\($0)" } ?? scope.project.text
    return members.map { member in
      func text(_ edit: PolicyEdit) -> String {
        member.value(in: edit).map { String(decoding: $0.serialized(), as: UTF8.self) } ?? "none"
      }
      return "\(pool): \(member.rawValue): \(text(policy.edit)) -> \(text(wanted))"
    }
  }
}
