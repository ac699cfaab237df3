import HTTP
import Identity
import JSON
import Testing

/// What addresses that a backend forwards count toward.
struct ForwardedAddressTests {
  @Test func `guesses for a forwarded address don't block it in another pool`() async throws {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let tenant = try await server.addTenant()
      let token = try await server.token(.application, tenant: tenant)
      func guess(_ body: JSON.Object, _ credential: Credential, forwarding: Bool) async throws
        -> Answer
      {
        var fields = Fields()
        if forwarding { fields.add("Countersign-Forwarded-For", "192.0.2.7") }
        return try await server.call(
          .post, "/v1/accounts:signInWithPassword",
          text: String(decoding: JSON.object(body).serialized(), as: UTF8.self), credential,
          fields: fields)
      }
      var last: Answer?
      for number in 0..<101 {
        last = try await guess(
          [
            "email": .string("nobody-\(number)@example.com"), "password": "wrong",
            "tenantId": .string(tenant),
          ], .bearer(token), forwarding: true)
      }
      #expect(last?.error?.hasPrefix("TOO_MANY_ATTEMPTS_TRY_LATER") == true)
      let own: JSON.Object = [
        "email": .string(alice.email),
        "password": .string(Person.password),
      ]
      // For calls of the same network and for those of another backend of the project.
      #expect(try await guess(own, .key, forwarding: false).status == 200)
      let other = try await server.token(.application)
      #expect(try await guess(own, .bearer(other), forwarding: true).status == 200)
    }
  }
}
