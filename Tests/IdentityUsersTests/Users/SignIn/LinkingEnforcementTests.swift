import Crypto
import Identity
import OTP
import Testing

@testable import TestIdentity

/// Users whose sign-ins are refused can't put that off by linking a sign-in method to their account.
struct LinkingEnforcementTests {
  private func linkEmail(
    _ instance: Instance, _ session: UserSession
  ) async throws -> SignInOutcome {
    try await instance.identity.signIns.emailLink(
      instance.acme, email: Person.alice.email, code: try await instance.code(.signIn),
      linking: session, by: Instance.visitor
    ).outcome
  }

  private func linkPhone(
    _ instance: Instance, _ session: UserSession
  ) async throws -> PhoneSignInOutcome {
    let info = try await instance.identity.signIns.sendCode(
      instance.acme, instance.request(Instance.number))
    return try await instance.identity.signIns.phone(
      instance.acme,
      PhoneSignIn(
        proof: .code(sessionInfo: info, code: TypedCode(Instance.code)), purpose: .link(session)),
      by: Instance.visitor)
  }

  private func isRefused(_ outcome: SignInOutcome) -> Bool {
    if case .enrollmentRequired = outcome { true } else { false }
  }

  @Test func `linking an email again starts no session of a user who is refused`() async throws {
    try await withInstance(carriesMail: true) { instance in
      try await instance.allow(emailLink: true)
      let alice = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      try await instance.enforce(.refuse)
      for _ in 0..<2 {
        let outcome = try await linkEmail(instance, session)
        #expect(isRefused(outcome))
      }
      let linked = try await instance.reload(alice)
      #expect(linked.signsInByLink, "the link is kept")
      try await instance.enforce(.claim)
      let later = try await linkEmail(instance, session)
      #expect(!isRefused(later))
    }
  }

  @Test func `linking a number again starts no session of a user who is refused`() async throws {
    try await withInstance(carriesMail: true) { instance in
      try await instance.allowPhones()
      let alice = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      try await instance.enforce(.refuse)
      for _ in 0..<2 {
        await expect("enrollmentRequired") { try await linkPhone(instance, session) }
      }
      let linked = try await instance.reload(alice)
      #expect(linked.phoneNumber == Instance.number, "the link is kept")
      try await instance.enforce(.claim)
      await expect("done") { try await linkPhone(instance, session) }
    }
  }

  @Test func `an anonymous user's first link is a sign-up, which isn't refused`() async throws {
    try await withInstance(carriesMail: true) { instance in
      try await instance.allow(emailLink: true)
      try await instance.enforce(.refuse)
      let anonymous = try await instance.identity.signIns.signUp(
        instance.acme, NewAccount(), by: Instance.visitor)
      let first = try await linkEmail(instance, anonymous.session)
      guard case .signedIn(let grant) = first else { throw Unexpected("refused") }
      let again = try await linkEmail(instance, grant.session)
      #expect(isRefused(again))
    }
  }
}
