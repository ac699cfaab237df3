import Foundation
import Identity
import Localization

enum AuditHeadsCommand: Command {
  static let name = "audit heads"
  static let summary = Message("cli.summary-prints-the-signed-heads")
  static let options =
    Instance.options + [
      Option("after", "N", variable: false, help: Message("cli.help-only-heads-after-entry"))
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let text = arguments.value("after") ?? "0"
    guard let start = Int64(text), start >= 0 else {
      throw UsageError(
        Message(
          "cli.after-must-be-a-number", ["highest": .text("\(Int64.max)"), "text": .text(text)]))
    }
    return try await Instance.use(arguments) { instance in
      var last = start
      while true {
        let heads = try await instance.identity.auditChain.heads(after: last)
        guard let newest = heads.last else { return 0 }
        for head in heads { Terminal.say(document: String(decoding: head.line, as: UTF8.self)) }
        last = newest.sequence
      }
    }
  }
}

enum AuditVerifyCommand: Command {
  static let name = "audit verify"
  static let summary = Message("cli.summary-verifies-the-audit-log")
  static let options =
    Instance.options + [
      Option("heads", "FILE", variable: false, help: Message("cli.help-exported-heads")),
      Option("key", "FILE", variable: false, help: Message("cli.help-evidence-keys-pem")),
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let heads = try arguments.value("heads").map { path in
      let heads = try AuditHeadFile(path: path).lines()
      // Nothing would be compared, and yet the result would look as if something had been.
      guard heads.contains(where: { $0 != nil }) else {
        throw ConfigurationError(
          Message("cli.audit-no-heads-in-file", ["path": .text(path)]))
      }
      return heads
    }
    let keys = try arguments.value("key").map { try EvidenceKeyFile(path: $0).keys() }
    return try await Instance.use(arguments) { instance in
      let result = try await instance.identity.auditChain.verify(
        exported: heads, trusting: keys, width: ProcessInfo.processInfo.activeProcessorCount)
      Terminal.say(
        Message(
          "cli.audit-checked",
          ["count": .number(Int(result.entries)), "last": .number(Int(result.end))]))
      for fault in result.faults.prefix(100) { Terminal.complain(fault.message) }
      if result.faults.count > 100 {
        Terminal.complain(
          Message("cli.audit-more-faults", ["count": .number(result.faults.count - 100)]))
      }
      for fact in proven(result) { Terminal.say(fact) }
      for fact in unproven(result, hasKeys: keys != nil) { Terminal.say(fact) }
      return result.faults.isEmpty ? 0 : 1
    }
  }

  private static func proven(_ result: AuditVerification) -> [Message] {
    var facts: [Message] = []
    for removed in result.removed {
      facts.append(
        Message(
          "cli.audit-removed-by-retention",
          [
            "first": .number(Int(removed.first)), "last": .number(Int(removed.last)),
            "time": .text(removed.at.rfc3339Milliseconds),
          ]))
    }
    if result.erased > 0 {
      facts.append(Message("cli.audit-erased", ["count": .number(result.erased)]))
    }
    guard result.faults.isEmpty else { return facts }
    if result.end > 0 { facts.append(Message("cli.audit-proven-chain")) }
    if let head = result.head {
      facts.append(
        Message(
          "cli.audit-proven-head",
          [
            "position": .number(Int(head.sequence)), "key": .text(head.keyID),
            "time": .text(head.at.rfc3339Milliseconds),
          ]))
    }
    if let head = result.exported?.newest {
      facts.append(
        Message(
          "cli.audit-proven-export",
          [
            "position": .number(Int(head.sequence)), "key": .text(head.keyID),
            "time": .text(head.at.rfc3339Milliseconds),
          ]))
    }
    return facts
  }

  private static func unproven(_ result: AuditVerification, hasKeys: Bool) -> [Message] {
    var facts: [Message] = []
    let signed = result.head?.sequence ?? 0
    if result.end > signed {
      facts.append(
        Message(
          "cli.audit-unsigned",
          ["first": .number(Int(signed) + 1), "last": .number(Int(result.end))]))
    }
    if result.unsealed > 0 {
      facts.append(Message("cli.audit-unsealed", ["count": .number(Int(result.unsealed))]))
    }
    if let exported = result.exported {
      facts.append(Message("cli.audit-after-export"))
      if exported.removed > 0 {
        facts.append(
          Message("cli.audit-heads-of-removed", ["count": .number(exported.removed)]))
      }
    } else {
      facts.append(Message("cli.audit-truncation"))
    }
    if !hasKeys { facts.append(Message("cli.audit-keys-of-database")) }
    return facts
  }
}

extension AuditVerification.Fault {
  var message: Message {
    switch self {
    case .changed(let position):
      return Message(
        "cli.audit-changed", ["position": .number(Int(position))])
    case .deleted(let position):
      return Message(
        "cli.audit-deleted", ["position": .number(Int(position))])
    case .linksDeleted(let first, let last) where first == last:
      return Message("cli.audit-link-deleted", ["position": .number(Int(first))])
    case .linksDeleted(let first, let last):
      return Message(
        "cli.audit-links-deleted", ["first": .number(Int(first)), "last": .number(Int(last))])
    case .reordered(let position):
      return Message(
        "cli.audit-reordered", ["position": .number(Int(position))])
    case .inserted(let position):
      return Message(
        "cli.audit-inserted", ["position": .number(Int(position))])
    case .headDiffers(let position):
      return Message(
        "cli.audit-head-differs", ["position": .number(Int(position))])
    case .headInvalid(let position):
      return Message(
        "cli.audit-head-invalid", ["position": .number(Int(position))])
    case .headDeleted(let position):
      return Message(
        "cli.audit-head-deleted", ["position": .number(Int(position))])
    case .tombstoneInvalid(let position):
      return Message(
        "cli.audit-tombstone-invalid", ["position": .number(Int(position))])
    case .truncated(let position):
      return Message(
        "cli.audit-truncated", ["position": .number(Int(position))])
    case .hidden(let position):
      return Message("cli.audit-hidden", ["position": .number(Int(position))])
    case .hiding(let position):
      return Message("cli.audit-hiding", ["position": .number(Int(position))])
    case .exportInvalid(let line):
      return Message("cli.audit-export-invalid", ["line": .number(line)])
    }
  }
}
