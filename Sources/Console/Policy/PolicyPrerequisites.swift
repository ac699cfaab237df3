import HTTP
import Identity
import Localization
import Templating

struct PolicyPrerequisite: ViewModel {
  let chip: Markup
  let text: Message
  var link: Link?

  /// The requirements of a pool that aren't met.
  static func unmet(
    _ prerequisites: PolicyPrerequisites, in context: PoolContext
  ) -> [PolicyPrerequisite] {
    let pool = context.pool
    var all: [PolicyPrerequisite] = []
    // At another server, that's a state of the tenant.
    if pool.isDisabled, context.offers(.hosting) {
      all.append(
        PolicyPrerequisite(
          chip: Chip.bad(Message("off")),
          text: Message("Sign-in is turned off for all users."),
          link: settings(context)))
    }
    if !prerequisites.allowsSecondFactor { all.append(noMethod(context)) }
    if prerequisites.signIn.anonymous {
      all.append(
        PolicyPrerequisite(
          chip: Chip.look(Message("anonymous")),
          text: Message(
            """
            Anonymous sign-in is on. Anonymous users can’t enroll until they add an email \
            address.
            """)))
    }
    if prerequisites.unverifiedEmails > 0 { all.append(addresses(prerequisites, context)) }
    return all
  }

  private static func noMethod(_ context: PoolContext) -> PolicyPrerequisite {
    PolicyPrerequisite(
      chip: Chip.look(Message("no method")),
      text: Message(
        """
        No password, email link, or identity provider sign-in is enabled, so users can’t enroll. \
        Anonymous, phone, custom token, and Game Center sign-ins don’t support a second factor.
        """), link: settings(context))
  }

  private static func addresses(
    _ prerequisites: PolicyPrerequisites, _ context: PoolContext
  ) -> PolicyPrerequisite {
    let link =
      context.may(.findUsers)
      ? Link(
        text: Message("Show users"),
        href: (["state": "unverified"] as Form).query(of: ConsolePaths.users(context.pool))) : nil
    return PolicyPrerequisite(
      chip: Chip.look(Message("unverified")),
      text: Message(
        one: "{count} user has an unverified address and can’t enroll until it’s verified.",
        other: "{count} users have an unverified address and can’t enroll until it’s verified.",
        ["count": .number(prerequisites.unverifiedEmails)]), link: link)
  }

  private static func settings(_ context: PoolContext) -> Link? {
    context.may(action: .changeSettings)
      ? Link(
        text: Message("Open settings"), href: ConsolePaths.signInMethods(context.pool))
      : nil
  }

  static let keys: Keys<Self> = [
    .markup(\.chip),
    .text(\.text),
    .optional(\.link),
  ]
}

extension PolicyPrerequisites {
  /// The names of the first three enabled identity providers, and how many more there are.
  fileprivate var providerNames: [Message] {
    let named = 3
    let rest = providers.count - named
    return providers.prefix(named).map(Message.verbatim)
      + (rest > 0
        ? [Message(one: "{count} more", other: "{count} more", ["count": .number(rest)])] : [])
  }

  var words: Message {
    SignInMethods.words(signIn.names + providerNames)
  }
}
