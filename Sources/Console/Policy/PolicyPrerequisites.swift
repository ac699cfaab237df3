import HTTP
import Identity
import Localization
import Templating

struct PolicyPrerequisite: ViewModel {
  let chip: Markup
  let text: Message
  var link: EmptyLink?

  /// The requirements of a pool, including those that are met.
  static func all(
    _ policy: Policy, _ prerequisites: PolicyPrerequisites, in context: PoolContext
  ) -> [PolicyPrerequisite] {
    let pool = context.pool
    var all: [PolicyPrerequisite] = []
    if pool.isDisabled {
      all.append(
        PolicyPrerequisite(
          chip: Chip.bad(Message("off")),
          text: Message("Sign-in is turned off for all users."),
          link: settings(context)))
    }
    all.append(methods(prerequisites, context))
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
    all.append(addresses(policy, prerequisites, context))
    return all
  }

  private static func methods(
    _ prerequisites: PolicyPrerequisites, _ context: PoolContext
  ) -> PolicyPrerequisite {
    guard prerequisites.allowsSecondFactor else {
      return PolicyPrerequisite(
        chip: Chip.look(Message("no method")),
        text: Message(
          """
          No password, email link, or identity provider sign-in is enabled, so users can’t \
          enroll. Anonymous, phone, custom token, and Game Center sign-ins don’t support a second \
          factor.
          """), link: settings(context))
    }
    let methods =
      [
        prerequisites.signIn.password ? Message("password") : nil,
        prerequisites.signIn.emailLink ? Message("email link") : nil,
      ].compactMap { $0 } + prerequisites.providerNames
    return PolicyPrerequisite(
      chip: Chip.on(Message("sign-in")),
      text: Message(
        """
        Enabled methods that support a second factor: {methods}. Anonymous, phone, custom token, \
        and Game Center sign-ins don’t support a second factor.
        """, ["methods": .sequence(methods)]))
  }

  private static func addresses(
    _ policy: Policy, _ prerequisites: PolicyPrerequisites, _ context: PoolContext
  ) -> PolicyPrerequisite {
    let unverified = prerequisites.unverifiedEmails
    guard unverified > 0 else {
      return PolicyPrerequisite(
        chip: Chip.on(Message("verified")),
        text: policy.users == 0
          ? Message("Users need a verified email address to enroll. There are no users yet.")
          : Message("Users need a verified email address to enroll. All addresses are verified."))
    }
    let link =
      context.may(.findUsers)
      ? EmptyLink(
        text: Message("Show users"),
        href: (["state": "unverified"] as Form).query(of: ConsolePaths.users(context.pool))) : nil
    return PolicyPrerequisite(
      chip: Chip.look(Message("unverified")),
      text: Message(
        one: "{count} user has an unverified address and can’t enroll until it’s verified.",
        other: "{count} users have an unverified address and can’t enroll until it’s verified.",
        ["count": .number(unverified)]), link: link)
  }

  private static func settings(_ context: PoolContext) -> EmptyLink? {
    context.may(.changePool)
      ? EmptyLink(
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
