import Foundation
import Host
import Identity
import JSON
import Localization

enum PolicyExportCommand: Command {
  static let name = "policy export"
  static let summary = Message(
    "prints the MFA policies of all pools as JSON, always in the same order")
  static let options =
    Instance.options + [
      Option(
        "project", "P", variable: false, help: Message("Only this project and its tenants.")
      )
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = arguments.value("project").map { ID<Project>($0) }
    let missing = Instance.notFound(project?.text ?? "", tenant: nil)
    return try await Instance.use(arguments) { instance in
      do {
        let file = try await instance.identity.policies.file(of: project)
        let text = Terminal.visible(String(decoding: file.serialized(), as: UTF8.self))
        Terminal.write(Array(text.utf8))
        return 0
      } catch PolicyFileError.problems {
        throw ConfigurationError(missing)
      }
    }
  }
}

enum PolicyDiffCommand: Command {
  static let name = "policy diff"
  static let summary = Message(
    "prints how policies differ from a file; exits 1 if any differ, 2 on an error")
  static let operands = "FILE"
  static let options = Instance.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let path = try arguments.operand(Message("the policy file"))
    do {
      return try await Instance.use(arguments) { instance in
        let file = try PolicyFileReader.read(path)
        let drifts = try await PolicyFileReader.explaining(path) {
          try await instance.identity.policies.drift(from: file)
        }
        for line in drifts.flatMap(\.lines) { Terminal.say(.verbatim(line)) }
        return drifts.isEmpty ? 0 : 1
      }
    } catch let error as ConfigurationError {
      for problem in error.problems { Terminal.complain(problem) }
      return 2
    } catch let error where !(error is UsageError) {
      Terminal.complain(
        Message(
          "countersign {command}: {error}", ["command": .text(name), "error": .text("\(error)")]))
      return 2
    }
  }
}

enum PolicyApplyCommand: Command {
  static let name = "policy apply"
  static let summary = Message("applies the policies in a file, all or none")
  static let operands = "FILE"
  static let options =
    Instance.options + [
      Option(
        "dry-run", variable: false, help: Message("Print the changes without making them.")),
      Option(
        "reason", "TEXT", variable: false,
        help: Message("Reason in the audit log; required if a policy becomes weaker.")),
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let path = try arguments.operand(Message("the policy file"))
    let (reason, isDryRun) = (try arguments.reason(), arguments.has("dry-run"))
    return try await Instance.use(arguments) { instance in
      let policies = instance.identity.policies
      let file = try PolicyFileReader.read(path)
      let drifts = try await PolicyFileReader.explaining(path) {
        isDryRun
          ? try await policies.drift(from: file)
          : try await policies.apply(file, because: reason, by: Author(actor: .commandLine))
      }
      for line in drifts.flatMap(\.lines) { Terminal.say(.verbatim(line)) }
      if isDryRun {
        // After the changes, because those that lack a reason are shown too.
        _ = try await PolicyFileReader.explaining(path) {
          try await policies.apply(
            file, because: reason, by: Author(actor: .commandLine), isDryRun: true)
        }
      }
      let count = Message.Value.number(drifts.count)
      Terminal.complain(
        isDryRun
          ? Message(
            one: "{count} policy would change. Nothing was changed.",
            other: "{count} policies would change. Nothing was changed.", ["count": count])
          : drifts.isEmpty
            ? Message("Nothing to change.")
            : Message(
              one: "{count} policy changed. Export again for the new versions.",
              other: "{count} policies changed. Export again for the new versions.",
              ["count": count]))
      return 0
    }
  }
}

enum PolicySchemaCommand: Command {
  static let name = "policy schema"
  static let summary = Message("prints the JSON schema of policy files")
  static let options: [Option] = []

  static func run(_ arguments: Arguments) async throws -> Int32 {
    Terminal.say(document: PolicyFileSchema.jsonSchema)
    return 0
  }
}

enum PolicyFileReader {
  /// The size of the largest file, in bytes.
  static let most = 16 << 20

  /// - Throws: `ConfigurationError` with a line for each problem.
  static func read(_ path: String) throws(ConfigurationError) -> PolicyFile {
    try parse(try content(of: path), of: path)
  }

  /// Reads the content of a file, up to one byte more than the largest file has.
  static func content(of path: String) throws(ConfigurationError) -> [UInt8] {
    do { return try ReadableFile.text(path, atMost: most + 1) } catch {
      throw ConfigurationError(reading: path, error)
    }
  }

  /// - Throws: `ConfigurationError` with a line for each problem.
  static func parse(_ data: [UInt8], of path: String) throws(ConfigurationError) -> PolicyFile {
    guard data.count <= most else {
      throw ConfigurationError(
        Message(
          "{path} is larger than {size} MiB.", ["path": .text(path), "size": .number(most >> 20)]))
    }
    do throws(PolicyFileError) { return try PolicyFile(parsing: data) } catch {
      throw ConfigurationError(error.messages(of: path))
    }
  }

  nonisolated(nonsending) static func explaining<Value>(
    _ path: String,
    _ body: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    do { return try await body() } catch let error as PolicyFileError {
      throw ConfigurationError(error.messages(of: path))
    } catch {
      throw ConfigurationError(database: error) ?? error
    }
  }
}

extension PolicyDrift {
  var lines: [String] {
    let pool = policy.pool
    let name = pool.tenant.map { "\(pool.project)/\($0)" } ?? pool.project.text
    return members.map { member in
      func text(_ edit: PolicyEdit) -> String {
        member.value(in: edit).map { String(decoding: $0.serialized(), as: UTF8.self) } ?? "none"
      }
      return "\(name): \(member.rawValue): \(text(policy.edit)) -> \(text(wanted))"
    }
  }
}

/// The JSON schema of policy files, as published in `docs/policy.schema.json`.
enum PolicyFileSchema {
  static let jsonSchema = """
    {
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "Countersign policy file",
      "description": "MFA policies of user pools. Pools and fields that aren't given are left alone.",
      "type": "object",
      "required": ["format", "pools"],
      "additionalProperties": false,
      "properties": {
        "format": { "const": "countersign-policy/1" },
        "pools": { "type": "array", "items": { "$ref": "#/$defs/pool" } }
      },
      "$defs": {
        "state": { "enum": ["unspecified", "disabled", "enabled", "mandatory"] },
        "pool": {
          "type": "object",
          "required": ["project", "policyVersion"],
          "additionalProperties": false,
          "properties": {
            "project": {
              "description": "The project's ID.",
              "type": "string",
              "minLength": 1,
              "maxLength": 128
            },
            "tenant": {
              "description": "The tenant's ID; null or absent for the project's own users.",
              "type": ["string", "null"],
              "minLength": 1,
              "maxLength": 128
            },
            "policyVersion": {
              "description": "The version that the file is based on. A change to another one is refused.",
              "type": "integer",
              "minimum": 0,
              "maximum": 2147483647
            },
            "state": {
              "description": "The configuration's top-level state; null if it isn't set.",
              "anyOf": [{ "$ref": "#/$defs/state" }, { "type": "null" }]
            },
            "sms": { "description": "Whether SMS is an enabled provider.", "type": "boolean" },
            "totp": {
              "description": "The TOTP configuration; null for none. A new one needs both members.",
              "type": ["object", "null"],
              "additionalProperties": false,
              "properties": {
                "state": { "$ref": "#/$defs/state" },
                "adjacentIntervals": {
                  "description": "The intervals accepted on each side; null for the default of 5.",
                  "anyOf": [
                    { "type": ["integer", "null"], "minimum": 0, "maximum": 10 },
                    { "const": "0 or default" }
                  ]
                }
              }
            },
            "pattern": {
              "description": "How users are asked to enroll; null if no pattern is set.",
              "enum": ["mandatory", "skippable", "account", "step-up", null]
            },
            "mandatoryFrom": {
              "description": "The day from which enrollment is mandatory; null for immediately.",
              "type": ["string", "null"],
              "format": "date",
              "pattern": "^(19[7-9]|[2-9][0-9]{2})[0-9]-[0-9]{2}-[0-9]{2}$"
            },
            "enforcement": {
              "description": "How the server enforces mandatory enrollment; null if it doesn't.",
              "type": ["object", "null"],
              "required": ["mode", "from", "graceDays"],
              "additionalProperties": false,
              "properties": {
                "mode": { "enum": ["claim", "refuse"] },
                "from": {
                  "type": "string",
                  "format": "date",
                  "pattern": "^(19[7-9]|[2-9][0-9]{2})[0-9]-[0-9]{2}-[0-9]{2}$"
                },
                "graceDays": { "type": "integer", "minimum": 0, "maximum": 90 }
              }
            }
          }
        }
      }
    }
    """
}
