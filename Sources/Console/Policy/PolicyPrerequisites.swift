import HTTP
import Identity
import Localization
import Templating

/// A requirement for users to enroll.
struct PolicyPrerequisite: ViewModel {
  let chip: Markup
  let text: String
  var link: EmptyLink?

  /// The requirements of a scope, including those that are met.
  static func all(
    _ policy: Policy, _ prerequisites: PolicyPrerequisites, in context: ScopeContext
  ) -> [PolicyPrerequisite] {
    let scope = context.scope
    var all: [PolicyPrerequisite] = []
    if scope.isDisabled {
      all.append(
        PolicyPrerequisite(
          chip: Chip.bad("off"), text: "Sign-in is turned off for all users.",
          link: settings(context)))
    }
    all.append(methods(prerequisites, context))
    if prerequisites.signIn.anonymous {
      all.append(
        PolicyPrerequisite(
          chip: Chip.look("anonymous"),
          text:
            "Anonymous sign-in is on. Anonymous users can’t enroll until they add an email address."
        ))
    }
    all.append(addresses(policy, prerequisites, context))
    return all
  }

  private static func methods(
    _ prerequisites: PolicyPrerequisites, _ context: ScopeContext
  ) -> PolicyPrerequisite {
    let on =
      [
        prerequisites.signIn.password ? "password" : nil,
        prerequisites.signIn.emailLink ? "email link" : nil,
      ].compactMap { $0 } + [prerequisites.providersInWords].compactMap { $0 }
    let others =
      "Anonymous, phone, custom token, and Game Center sign-ins don’t support a second factor."
    guard prerequisites.allowsSecondFactor else {
      return PolicyPrerequisite(
        chip: Chip.look("no method"),
        text:
          "No password, email link, or identity provider sign-in is enabled, so users can’t enroll. \(others)",
        link: settings(context))
    }
    return PolicyPrerequisite(
      chip: Chip.on("sign-in"),
      text:
        "Enabled methods that support a second factor: \(on.joined(separator: ", ")). \(others)")
  }

  private static func addresses(
    _ policy: Policy, _ prerequisites: PolicyPrerequisites, _ context: ScopeContext
  ) -> PolicyPrerequisite {
    guard prerequisites.unverifiedEmails > 0 else {
      return PolicyPrerequisite(
        chip: Chip.on("verified"),
        text: policy.users == 0
          ? "Users need a verified email address to enroll. There are no users yet."
          : "Users need a verified email address to enroll. No addresses are unverified.")
    }
    let users = Words.count(
      prerequisites.unverifiedEmails, "user has an unverified address",
      "users have an unverified address")
    let link =
      context.may(.findUsers)
      ? EmptyLink(
        text: "Show users",
        href: (["state": "unverified"] as Form).query(of: ConsolePaths.users(context.scope))) : nil
    return PolicyPrerequisite(
      chip: Chip.look("unverified"), text: "\(users) and can’t enroll until it’s verified.",
      link: link)
  }

  private static func settings(_ context: ScopeContext) -> EmptyLink? {
    context.may(.changeScope)
      ? EmptyLink(text: "Open settings", href: ConsolePaths.settings(context.scope)) : nil
  }

  static let keys: Keys<Self> = [
    .markup("chip") { $0.chip },
    .text("text") { $0.text },
    .optional("link") { $0.link },
  ]
}

extension PolicyPrerequisites {
  /// The enabled identity providers, the first three by name; nil if there are none.
  var providersInWords: String? {
    let named = 3
    guard !providers.isEmpty else { return nil }
    let rest = providers.count - named
    return (providers.prefix(named) + (rest > 0 ? ["\(rest) more"] : [])).joined(separator: ", ")
  }

  /// The enabled first factors, as text.
  var words: Message {
    SignInMethods.words(signIn.names + [providersInWords].compactMap { $0?.message })
  }
}
