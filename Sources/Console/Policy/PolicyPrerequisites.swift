import HTTP
import Identity
import Templating

/// One thing that has to be so before users can enroll.
struct PolicyPrerequisite: ViewModel {
  let chip: Markup
  let text: String
  var link: EmptyLink?

  /// The prerequisites of a scope, those that are met too.
  static func all(
    _ policy: Policy, _ prerequisites: PolicyPrerequisites, in context: ScopeContext
  ) -> [PolicyPrerequisite] {
    let scope = context.scope
    var all: [PolicyPrerequisite] = []
    if scope.isDisabled {
      all.append(
        PolicyPrerequisite(
          chip: Chip.bad("off"), text: "Sign-in is switched off here for everybody.",
          link: settings(context)))
    }
    all.append(methods(prerequisites, context))
    if prerequisites.signIn.anonymous {
      all.append(
        PolicyPrerequisite(
          chip: Chip.look("anonymous"),
          text: "Anonymous sign-in is on. Those users cannot enroll before they have an address."))
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
      "Anonymous, phone, custom token and Game Center sign-ins allow no second factor."
    guard prerequisites.allowsSecondFactor else {
      return PolicyPrerequisite(
        chip: Chip.look("no method"),
        text:
          "No password, email link or identity provider sign-in is on, so nobody can enroll. \(others)",
        link: settings(context))
    }
    return PolicyPrerequisite(
      chip: Chip.on("sign-in"),
      text: "A method that allows a second factor is on: \(on.joined(separator: ", ")). \(others)")
  }

  private static func addresses(
    _ policy: Policy, _ prerequisites: PolicyPrerequisites, _ context: ScopeContext
  ) -> PolicyPrerequisite {
    guard prerequisites.unverifiedEmails > 0 else {
      return PolicyPrerequisite(
        chip: Chip.on("verified"),
        text: policy.users == 0
          ? "Users need a verified email address to enroll. There is no user yet."
          : "Users need a verified email address to enroll. No address here is unverified.")
    }
    let users = Words.count(
      prerequisites.unverifiedEmails, "user has an unverified address",
      "users have an unverified address")
    let link =
      context.may(.findUsers)
      ? EmptyLink(
        text: "Show them",
        href: (["state": "unverified"] as Form).query(of: ConsolePaths.users(context.scope))) : nil
    return PolicyPrerequisite(
      chip: Chip.look("unverified"), text: "\(users) and cannot enroll until it is verified.",
      link: link)
  }

  private static func settings(_ context: ScopeContext) -> EmptyLink? {
    context.may(.changeScope)
      ? EmptyLink(text: "Open the settings", href: ConsolePaths.settings(context.scope)) : nil
  }

  static let keys: Keys<Self> = [
    .markup("chip") { $0.chip },
    .text("text") { $0.text },
    .optional("link") { $0.link },
  ]
}

extension PolicyPrerequisites {
  /// The identity providers that are on, the first of them by name; nil when there is none.
  var providersInWords: String? {
    let named = 3
    guard !providers.isEmpty else { return nil }
    let rest = providers.count - named
    return (providers.prefix(named) + (rest > 0 ? ["\(rest) more"] : [])).joined(separator: ", ")
  }

  /// The first factors that are on, in words.
  var words: String {
    SignInMethods.words(signIn.names + [providersInWords].compactMap { $0 })
  }
}
