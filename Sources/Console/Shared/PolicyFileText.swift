import Identity
import Localization
import Templating

enum PolicyFileText {
  static func sentence(_ fields: [PolicyChange.Field]) -> Message {
    fields.isEmpty
      ? Message(
        "The policy file doesn’t fit this pool. Run countersign policy diff to find out why.")
      : Message(
        "The MFA policy differs from the policy file: {fields}.",
        ["fields": .sequence(fields.map(\.name))])
  }

  static func warning(missing: [String]) -> Message? {
    guard !missing.isEmpty else { return nil }
    let first = missing.prefix(named).map { Message.verbatim(Formatted.short($0)) }
    return missing.count > named
      ? Message(
        one: "The policy file names {count} project or tenant that doesn’t exist, such as {pools}.",
        other: """
          The policy file names {count} projects or tenants that don’t exist, such as {pools}.
          """,
        ["count": .number(missing.count), "pools": .list(first)])
      : Message(
        one: "The policy file names {count} project or tenant that doesn’t exist: {pools}.",
        other: "The policy file names {count} projects or tenants that don’t exist: {pools}.",
        ["count": .number(missing.count), "pools": .list(first)])
  }

  /// The maximum number of pools that are listed.
  private static let named = 5
}

extension [String] {
  /// A number that's another for other names (FNV-1a).
  var digest: Int64 {
    joined(separator: " ").utf8.reduce(Int64(bitPattern: 0xcbf2_9ce4_8422_2325)) {
      ($0 ^ Int64($1)) &* 0x100_0000_01b3
    }
  }
}

extension PolicyFileStatus {
  var warning: Message? {
    self == .unreadable
      ? Message(
        """
        The policy file can’t be read, so policies aren’t compared with it. The server’s log has the \
        reason.
        """) : nil
  }
}

struct PolicyFileDrift: ViewModel {
  let sentence: Message
  let changes: [ChangeRow]

  init?(_ drift: [PolicyChange]?, _ status: PolicyFileStatus) {
    let sentence = status.warning ?? drift.map { PolicyFileText.sentence($0.map(\.field)) }
    guard let sentence else { return nil }
    self.sentence = sentence
    changes = (drift ?? []).map(ChangeRow.init)
  }

  static let keys: Keys<Self> = [
    .text(\.sentence),
    .list(\.changes),
  ]
}

struct ChangeRow: ViewModel {
  let change: PolicyChange

  static let keys: Keys<Self> = [
    .text("field") { $0.change.field.label },
    .text("from") { $0.change.oldValue },
    .text("to") { $0.change.newValue },
  ]
}
