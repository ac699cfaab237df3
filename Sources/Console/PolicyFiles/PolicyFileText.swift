import Identity
import Localization

/// How a policy differs from the watched policy file.
enum PolicyFileText {
  static let unreadable = Message("scopes.file-unreadable")

  static func sentence(_ fields: [PolicyChange.Field]) -> Message {
    fields.isEmpty
      ? Message("scopes.does-not-fit-file")
      : Message("scopes.differs-from-file", ["fields": .sequence(fields.map(\.name))])
  }
}
