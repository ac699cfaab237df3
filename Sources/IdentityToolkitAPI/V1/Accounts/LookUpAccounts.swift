import Identity
import JSON

extension Declaration {
  static let lookup = Declaration(
    "accounts.lookup",
    "Returns the user of an ID token, or any users with a service token.",
    takes: [
      "idToken": .text, "localId": .list(.text), "email": .list(.text),
      "phoneNumber": .list(.text), "initialEmail": .list(.text),
      "federatedUserId": .list(["providerId": .text, "rawId": .text]),
    ],
    gives: ["kind": .kind("GetAccountInfoResponse"), "users": .list(.user)])
}

extension Methods {
  /// `accounts:lookup` by a client: returns the user of an ID token.
  func lookup(_ call: ClientCall) async throws -> JSON {
    let session = try await tokens.session(call)
    let account = try await check(session)
    return Methods.lookupAnswer([account], tenant: session.pool.tenant)
  }

  /// `accounts:lookup` by an administrator: returns users by ID, email, phone number, and their IDs
  /// at other providers.
  func lookupAccounts(_ call: AdminCall) async throws -> JSON {
    let ids = try call.message.texts("localId")
    let emails = try call.message.texts("email")
    let phoneNumbers = try call.message.texts("phoneNumber").map(Account.phoneNumber)
    var federated: [(provider: String, rawID: String)] = []
    for identity in try call.message.messages("federatedUserId") {
      federated.append(
        (try identity.text("providerId") ?? "", try identity.text("rawId") ?? ""))
    }
    let initialEmails = try call.message.texts("initialEmail")
    let count =
      ids.count + emails.count + phoneNumbers.count + federated.count + initialEmails.count
    guard count > 0 else { throw WireError("MISSING_ID_TOKEN") }
    guard count <= Methods.mostIdentifiers else {
      throw WireError(
        "TOO_MANY_IDENTIFIERS : At most \(Methods.mostIdentifiers) identifiers can be looked up.")
    }
    let accounts = try await identity.accounts.lookup(
      call.pool, ids: ids, emails: emails, phoneNumbers: phoneNumbers, federated: federated,
      initialEmails: initialEmails)
    return Methods.lookupAnswer(accounts, tenant: call.pool.tenant)
  }

  /// The maximum number of identifiers per lookup; SDKs send at most 100.
  private static let mostIdentifiers = 1_000

  /// `users` is omitted if there are none, like every empty list in proto3.
  private static func lookupAnswer(_ accounts: [Account], tenant: ID<Tenant>?) -> JSON {
    var answer: JSON.Object = ["kind": "identitytoolkit#GetAccountInfoResponse"]
    if !accounts.isEmpty {
      answer.append("users", .array(accounts.map { UserMessage.write($0, tenant: tenant) }))
    }
    return .object(answer)
  }
}
