import Identity
import Localization
import Templating

/// The user that a page acts on: name, pool, email, phone, and the end of the UID.
struct UserIdentity: ViewModel {
  private let facts: [Fact]
  /// Whether the user was deleted, so that there's no page to link to.
  let isDeleted: Bool

  /// The number of characters of the UID that are shown to tell users of the same name apart.
  private static let uidLength = 6

  init(_ account: Account, in pool: Pool) {
    isDeleted = false
    facts = [
      Self.fact(Message("Name"), account.displayName.map { Formatted.short($0) }),
      Self.project(pool), Self.fact(Message("Email"), account.email),
      Self.fact(Message("Phone"), account.phoneNumber),
      Self.uid(account.id.text),
    ]
  }

  init(deleted name: String, uid: String, in pool: Pool) {
    isDeleted = true
    facts = [
      Self.fact(Message("User"), name), Self.project(pool), Self.uid(uid),
      Fact(Message("Account"), Message("deleted")),
    ]
  }

  private static func project(_ pool: Pool) -> Fact {
    Fact(Message("Project"), HTML.isolated(ApprovalText.place(pool)))
  }

  private static func fact(_ label: Message, _ value: String?) -> Fact {
    guard let value, !value.isEmpty else { return Fact(label, Message("none")) }
    return Fact(label, HTML.isolated(value))
  }

  private static func uid(_ uid: String) -> Fact {
    let isCut = uid.count > uidLength
    return Fact(Message("UID"), HTML.isolated((isCut ? "…" : "") + uid.suffix(uidLength)))
  }

  static let keys: Keys<Self> = [.list("facts") { $0.facts }]
}

extension Link {
  static func crumbs(to account: Account, in pool: Pool) -> [Link] {
    [
      Link(text: Message("Users"), href: ConsolePaths.users(pool)),
      Link(
        text: .verbatim(Formatted.short(account.label)),
        href: ConsolePaths.user(pool, account.id.text)),
    ]
  }
}
