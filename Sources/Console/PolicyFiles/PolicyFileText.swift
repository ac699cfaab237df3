import Identity
import Localization

/// How a policy differs from the watched policy file.
enum PolicyFileText {
  static func sentence(_ fields: [PolicyChange.Field]) -> Message {
    fields.isEmpty
      ? Message("scopes.does-not-fit-file")
      : Message("scopes.differs-from-file", ["fields": .sequence(fields.map(\.name))])
  }
}

extension PolicyFileStatus {
  /// The warning that the file can't be read; nil if it can, or there's none.
  var warning: Message? { self == .unreadable ? Message("scopes.file-unreadable") : nil }
}
