import HTTP
import Identity
import Localization
import Templating

struct PolicyPrerequisite: ViewModel {
  let chip: Markup
  let text: Message
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
          chip: Chip.bad(Message("common.off")), text: Message("policy.sign-in-is-off"),
          link: settings(context)))
    }
    all.append(methods(prerequisites, context))
    if prerequisites.signIn.anonymous {
      all.append(
        PolicyPrerequisite(
          chip: Chip.look(Message("policy.anonymous-chip")),
          text: Message("policy.anonymous-is-on")))
    }
    all.append(addresses(policy, prerequisites, context))
    return all
  }

  private static func methods(
    _ prerequisites: PolicyPrerequisites, _ context: ScopeContext
  ) -> PolicyPrerequisite {
    guard prerequisites.allowsSecondFactor else {
      return PolicyPrerequisite(
        chip: Chip.look(Message("policy.no-method-chip")),
        text: Message("policy.no-method"), link: settings(context))
    }
    let methods =
      [
        prerequisites.signIn.password ? Message("policy.method-password") : nil,
        prerequisites.signIn.emailLink ? Message("policy.method-email-link") : nil,
      ].compactMap { $0 } + prerequisites.providerNames
    return PolicyPrerequisite(
      chip: Chip.on(Message("policy.sign-in-chip")),
      text: Message("policy.methods-on", ["methods": .sequence(methods)]))
  }

  private static func addresses(
    _ policy: Policy, _ prerequisites: PolicyPrerequisites, _ context: ScopeContext
  ) -> PolicyPrerequisite {
    let unverified = prerequisites.unverifiedEmails
    guard unverified > 0 else {
      return PolicyPrerequisite(
        chip: Chip.on(Message("policy.verified-chip")),
        text: policy.users == 0
          ? Message("policy.no-addresses") : Message("policy.addresses-verified"))
    }
    let link =
      context.may(.findUsers)
      ? EmptyLink(
        text: Message("policy.show-users"),
        href: (["state": "unverified"] as Form).query(of: ConsolePaths.users(context.scope))) : nil
    return PolicyPrerequisite(
      chip: Chip.look(Message("policy.unverified-chip")),
      text: Message("policy.addresses-unverified", ["count": .number(unverified)]), link: link)
  }

  private static func settings(_ context: ScopeContext) -> EmptyLink? {
    context.may(.changeScope)
      ? EmptyLink(
        text: Message("policy.open-settings"), href: ConsolePaths.signInMethods(context.scope))
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
      + (rest > 0 ? [Message("policy.more-providers", ["count": .number(rest)])] : [])
  }

  var words: Message {
    SignInMethods.words(signIn.names + providerNames)
  }
}
