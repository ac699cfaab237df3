import Foundation
import Host
import Identity
import Localization

enum AuditHeadsCommand: Command {
  static let name = "audit heads"
  static let summary = Message("prints the signed heads of the audit log, one per line")
  static let options =
    Instance.options + [
      Option("after", "N", variable: false, help: Message("Only heads after this entry."))
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let text = arguments.value("after") ?? "0"
    guard let start = Int64(text), start >= 0 else {
      throw UsageError(
        Message(
          "--after must be a whole number from 0 to {highest}, not \"{text}\"",
          ["highest": .text("\(Int64.max)"), "text": .text(text)]))
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
  static let summary = Message(
    "verifies the hash chain of the audit log, and reports what that proves")
  static let options =
    Instance.options + [
      Option(
        "heads", "FILE", variable: false,
        help: Message(
          """
          Signed heads that were exported before, which show whether the newest entries were \
          deleted.
          """)),
      Option(
        "key", "FILE", variable: false,
        help: Message("Your copy of the evidence keys in PEM format; see evidence key --all.")),
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let heads = try arguments.value("heads").map { path in
      let heads = try AuditHeadFile(path: path).lines()
      // Nothing would be compared, and yet the result would look as if something had been.
      guard heads.contains(where: { $0 != nil }) else {
        throw ConfigurationError(
          Message(
            "There are no signed heads in {path}. Check that it was copied completely.",
            ["path": .text(path)]))
      }
      return heads
    }
    let keys = try arguments.value("key").map { try EvidenceKeyFile(path: $0).keys() }
    return try await Instance.use(arguments) { instance in
      let result = try await instance.identity.auditChain.verify(
        exported: heads, trusting: keys, width: ProcessInfo.processInfo.activeProcessorCount)
      Terminal.say(
        Message(
          one: "Checked {count} entry, through entry {last}.",
          other: "Checked {count} entries, through entry {last}.",
          ["count": .number(Int(result.entries)), "last": .number(Int(result.end))]))
      for fault in result.faults.prefix(100) { Terminal.complain(fault.message) }
      if result.faults.count > 100 {
        Terminal.complain(
          Message(
            one: "{count} more fault.", other: "{count} more faults.",
            ["count": .number(result.faults.count - 100)]))
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
          """
          Signed record: entries {first} to {last} were removed by retention, most recently at \
          {time}.
          """,
          [
            "first": .number(Int(removed.first)), "last": .number(Int(removed.last)),
            "time": .text(removed.at.rfc3339Milliseconds),
          ]))
    }
    if result.erased > 0 {
      facts.append(
        Message(
          one: "{count} part of an entry was erased. Its digest is still in the chain.",
          other: "{count} parts of entries were erased. Their digests are still in the chain.",
          ["count": .number(result.erased)]))
    }
    guard result.faults.isEmpty else { return facts }
    if result.end > 0 {
      facts.append(
        Message(
          """
          Proven: no entry was changed, deleted, inserted, or reordered without recomputing all later \
          links.
          """))
    }
    if let head = result.head {
      facts.append(
        Message(
          "Proven: entries through {position} match the head that key {key} signed at {time}.",
          [
            "position": .number(Int(head.sequence)), "key": .text(head.keyID),
            "time": .text(head.at.rfc3339Milliseconds),
          ]))
    }
    if let head = result.exported?.newest {
      facts.append(
        Message(
          """
          Proven: entries through {position} match the exported head that key {key} signed at \
          {time}. None of them were deleted from the end.
          """,
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
          "Not proven: entries {first} to {last} aren't covered by a signed head.",
          ["first": .number(Int(signed) + 1), "last": .number(Int(result.end))]))
    }
    if result.unsealed > 0 {
      facts.append(
        Message(
          one: "Not proven: {count} entry isn't sealed yet.",
          other: "Not proven: {count} entries aren't sealed yet.",
          ["count": .number(Int(result.unsealed))]))
    }
    if let exported = result.exported {
      facts.append(
        Message("Not ruled out: that entries after the newest exported head were deleted."))
      if exported.removed > 0 {
        facts.append(
          Message(
            one: "Not compared: {count} exported head of entries that were removed by retention.",
            other: """
              Not compared: {count} exported heads of entries that were removed by retention.
              """, ["count": .number(exported.removed)]))
      }
    } else {
      facts.append(
        Message(
          """
          Not ruled out: that the newest entries were deleted along with their heads. Compare with \
          exported heads: --heads FILE.
          """))
    }
    if !hasKeys {
      facts.append(
        Message(
          """
          Not proven: that the keys are yours. They're from this database. Compare them with your \
          copy: --key FILE.
          """))
    }
    return facts
  }
}

extension AuditVerification.Fault {
  var message: Message {
    switch self {
    case .changed(let position):
      return Message(
        """
        Audit log entry {position} doesn't match its link: the entry, its link, or the link \
        before it was changed.
        """, ["position": .number(Int(position))])
    case .deleted(let position):
      return Message(
        "Audit log entry {position} was deleted.", ["position": .number(Int(position))])
    case .linksDeleted(let first, let last) where first == last:
      return Message(
        "The link of audit log entry {position} was deleted.", ["position": .number(Int(first))])
    case .linksDeleted(let first, let last):
      return Message(
        "The links of audit log entries {first} to {last} were deleted.",
        ["first": .number(Int(first)), "last": .number(Int(last))])
    case .reordered(let position):
      return Message(
        "Audit log entry {position} is out of place: entries were reordered.",
        ["position": .number(Int(position))])
    case .inserted(let position):
      return Message(
        "Entries were inserted into the audit log before entry {position}, or sealed out of order.",
        ["position": .number(Int(position))])
    case .headDiffers(let position):
      return Message(
        """
        Audit log entry {position} isn't as it was signed: it or entries before it were changed, \
        and the links recomputed.
        """, ["position": .number(Int(position))])
    case .headInvalid(let position):
      return Message(
        "The signature at audit log entry {position} isn't valid, or its key isn't known.",
        ["position": .number(Int(position))])
    case .headDeleted(let position):
      return Message(
        "The signed head at audit log entry {position} was deleted.",
        ["position": .number(Int(position))])
    case .tombstoneInvalid(let position):
      return Message(
        """
        The record of audit log entries removed through {position} isn't valid: entries were \
        deleted in another way.
        """, ["position": .number(Int(position))])
    case .truncated(let position):
      return Message(
        "The audit log was truncated: it was signed through entry {position}, but ends before it.",
        ["position": .number(Int(position))])
    case .hidden(let position):
      return Message(
        """
        Audit log entry {position} is left out of filtered logs and of reports: its column filed, \
        or that of a field, was changed.
        """, ["position": .number(Int(position))])
    case .hiding(let position):
      return Message(
        """
        Entries after audit log entry {position} are left out of filtered logs and of reports: \
        audit_filed_to in the table instance was changed.
        """, ["position": .number(Int(position))])
    case .exportInvalid(let line):
      return Message(
        "Line {line} of the exported heads isn't a head that a known key signed.",
        ["line": .number(line)])
    }
  }
}

/// A file of signed heads of the audit log, one per line.
struct AuditHeadFile: Sendable {
  let path: String

  /// Reads all lines; nil for one that isn't a head.
  func lines() throws(ConfigurationError) -> [AuditHead?] {
    do {
      return try ReadableFile.contents(path)
        .split(separator: UInt8(ascii: "\n")).map { AuditHead(line: $0) }
    } catch {
      throw ConfigurationError(reading: path, error)
    }
  }
}
