import Crypto
import Identity
import OTP

struct DemoStaff: Sendable {
  let owner: Administrator
  let policy: Administrator
  let support: Administrator
  let auditor: Administrator
  var people: [DemoPerson]
  /// The support agent of one tenant, who is hired later.
  var tenantAgent: Administrator?

  /// Returns an author for an administrator, with an address reserved for documentation (RFC 5737).
  func author(_ administrator: Administrator, _ random: DemoRandom) -> Author {
    let host = administrator.email.utf8.reduce(7) { ($0 &* 31 &+ Int($1)) % 250 }
    return administrator.author(
      address: "198.51.100.\(host + 1)", requestID: random.source.token(bytes: 12))
  }
}

extension Demo {
  func makeStaff() async throws -> DemoStaff {
    clock.set(now.advanced(bySeconds: -400 * 86_400))
    var people: [DemoPerson] = []
    let owner = try await hire(
      "Olga Lindqvist", "olga@example.com", Grant(role: .owner), by: Author(actor: .commandLine),
      &people)
    let author = owner.author(address: "198.51.100.4", requestID: random.source.token(bytes: 12))
    return DemoStaff(
      owner: owner,
      policy: try await hire(
        "Priya Raman", "priya@example.com", Grant(role: .policy), by: author, &people),
      support: try await hire(
        "سامي حداد", "sami@example.com", Grant(role: .support), by: author, &people),
      auditor: try await hire(
        "李静", "jing@example.com", Grant(role: .auditor), by: author, &people),
      people: people)
  }

  func hireForTenant(_ pool: Pool, _ staff: inout DemoStaff) async throws {
    staff.tenantAgent = try await hire(
      "Tessa Grün", "tessa@example.com",
      Grant(role: .support, project: pool.project, tenant: pool.tenant),
      by: staff.author(staff.owner, random), &staff.people)
  }

  private func hire(
    _ name: String, _ email: String, _ grant: Grant, by author: Author, _ people: inout [DemoPerson]
  ) async throws -> Administrator {
    let administrator = try await identity.administrators.create(
      email: email, displayName: name, password: Self.password, grant: grant, by: author)
    let place = [grant.project?.text, grant.tenant?.text].compactMap(\.self)
      .joined(separator: " / ")
    people.append(
      DemoPerson(
        name: name, email: email, password: Self.password,
        role: "\(grant.role.rawValue) (\(place.isEmpty ? "instance" : place))",
        authenticator: try await enroll(administrator)))
    return administrator
  }

  private func enroll(_ administrator: Administrator) async throws -> OneTimePassword {
    let factors = identity.administratorFactors
    let enrollment = try factors.begin(for: administrator)
    guard let bytes = Base32.decode(enrollment.key.revealedText),
      let authenticator = TOTPFactor.password(Secret(bytes))
    else { throw Failure("an authenticator without secret") }
    let step = authenticator.step(at: clock.now.seconds)
    _ = try await factors.finish(
      enrollment.ticket.revealedText, code: try TypedCode(authenticator.code(step: step)),
      for: administrator.id, by: administrator.author(address: "198.51.100.4", requestID: ""))
    return authenticator
  }
}
