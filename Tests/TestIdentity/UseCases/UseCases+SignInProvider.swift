import Crypto
import TestProvider
import Testing

@testable import Identity

extension UseCase {
  static let signInProvider: [UseCase] = [
    UseCase("set up the sign-in provider", [.instanceChangeSignInProvider]) { i in
      let owner = try await i.agent("olga", role: .owner)
      return {
        _ = try await i.identity.consoleProviders.save(
          Instance.consoleProvider(), secret: Secret("s3cret"),
          owner.request(nil, note: "Single sign-on"))
      }
    },
    UseCase(
      "change the roles of groups",
      [.administratorGrant, .administratorRevoke, .instanceChangeSignInProvider]
    ) { i in
      let owner = try await i.setUpProvider()
      _ = try await i.visit()
      let auditors = GroupRole(group: "admins", grant: Grant(role: .auditor))
      return {
        _ = try await i.identity.consoleProviders.save(
          Instance.consoleProvider([auditors]), secret: nil,
          owner.request(nil, note: "Fewer owners"))
      }
    },
    UseCase("remove the sign-in provider", [.instanceRemoveSignInProvider]) { i in
      let owner = try await i.setUpProvider()
      return {
        _ = try await i.identity.consoleProviders.remove(owner.request(nil, note: "Not used"))
      }
    },
    UseCase(
      "sign in with the provider for the first time",
      [.administratorCreate, .administratorGrant, .administratorSignIn], spendsTicket: true
    ) { i in
      try await i.setUpProvider()
      return { _ = try await i.visit() }
    },
    UseCase(
      "sign in with the provider without a role", [.administratorProviderRefused],
      ending: "noRole", spendsTicket: true
    ) { i in
      try await i.setUpProvider()
      i.provider.change { $0.groups = [] }
      return { _ = try await i.visit() }
    },
    UseCase(
      "link with the provider",
      [.administratorLinkProvider, .administratorGrant, .administratorStepUp],
      spendsTicket: true
    ) { i in
      try await i.setUpProvider()
      let nora = try await i.administrator("nora", .auditor)
      let session = try await i.giveConsolePassword(nora).session.session
      return { _ = try await i.visit(in: session) }
    },
    UseCase("re-authenticate with the provider", [.administratorStepUp], spendsTicket: true) { i in
      try await i.setUpProvider()
      let session = try await i.providerSession()
      return { _ = try await i.visit(in: session) }
    },
    UseCase("turn off password sign-in", [.instancePasswordSignIn]) { i in
      let olga = try await i.setUpProvider().administrator
      let nora = try await i.providerSession()
      return { _ = try await i.turnOffPasswords(except: olga.id, nora) }
    },
    UseCase(
      "sign in as the break-glass account", [.administratorSignIn, .administratorBreakGlass]
    ) { i in
      let olga = try await i.setUpProvider().administrator
      let nora = try await i.providerSession()
      try await i.turnOffPasswords(except: olga.id, nora)
      return { _ = try await i.giveConsolePassword(olga) }
    },
  ]
}
