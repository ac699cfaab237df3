import Identity
import Localization

enum PolicyFileText {
  static func sentence(_ fields: [PolicyChange.Field]) -> Message {
    fields.isEmpty
      ? Message("scopes.does-not-fit-file")
      : Message("scopes.differs-from-file", ["fields": .sequence(fields.map(\.name))])
  }

  static func warning(missing: [String]) -> Message? {
    guard !missing.isEmpty else { return nil }
    let first = missing.prefix(named).map { Message.verbatim(Formatted.short($0)) }
    return missing.count > named
      ? Message(
        "scopes.file-names-missing-pools-such-as",
        ["count": .number(missing.count), "pools": .list(first)])
      : Message(
        "scopes.file-names-missing-pools",
        ["count": .number(missing.count), "pools": .list(first)])
  }

  /// The maximum number of pools that are listed.
  private static let named = 5
}

extension PolicyFileStatus {
  var warning: Message? { self == .unreadable ? Message("scopes.file-unreadable") : nil }
}
