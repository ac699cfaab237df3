import Identity
import Localization

extension Role {
  private static let titles: [Role: Message] = [
    .owner: Message("administrators.title-owner"),
    .policy: Message("administrators.title-policy"),
    .support: Message("administrators.title-support"),
    .auditor: Message("administrators.title-auditor"),
  ]

  /// The role's display name at the start of a line.
  var title: Message { Self.titles[self] ?? .verbatim(rawValue) }
}
