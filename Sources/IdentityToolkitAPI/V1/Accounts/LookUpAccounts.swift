import Identity
import JSON

extension Methods {
  static let lookup = Declaration(
    "accounts.lookup",
    "Returns the user of an ID token, or any users with a service token.",
    takes: [
      "idToken": .text, "localId": .list(.text), "email": .list(.text),
      "phoneNumber": .list(.text), "initialEmail": .list(.text),
      "federatedUserId": .list(["providerId": .text, "rawId": .text]),
    ],
    gives: ["kind": .kind("GetAccountInfoResponse"), "users": .list(.user)])

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

  static let query = Declaration(
    "accounts.query", "Counts users, or lists a page of them, sorted by one of five fields.",
    takes: queried, gives: found)
  static let queryAccounts = Declaration(
    "queryAccounts", "The same as accounts.query.", takes: queried, gives: found)

  private static let queried: Schema = [
    "returnUserInfo": .flag.noted("If false, only counts users; defaults to true."),
    "limit": .int64.noted("At most 500; defaults to 500."),
    "offset": .int64.noted("At most \(AccountQuery.longestOffset)."),
    "sortBy": .choice(Methods.sortBy), "order": .choice(Methods.order),
    "expression": .list(["email": .text, "phoneNumber": .text, "userId": .text]),
  ]
  private static let found: Schema = [
    "recordsCount": .int64.required, "userInfo": .list(.user),
  ]

  static let sortBy = EnumType(
    name: "google.cloud.identitytoolkit.v1.QueryUserInfoRequest.SortByField",
    values: [
      "SORT_BY_FIELD_UNSPECIFIED", "USER_ID", "NAME", "CREATED_AT", "LAST_LOGIN_AT", "USER_EMAIL",
    ])

  static let order = EnumType(
    name: "google.cloud.identitytoolkit.v1.QueryUserInfoRequest.Order",
    values: ["ORDER_UNSPECIFIED", "ASC", "DESC"])

  /// `accounts:query` and `queryAccounts`: returns the user that matches an expression, a page of
  /// all users in one of five orders, or the number of users.
  func query(_ call: AdminCall) async throws -> JSON {
    let query = try Methods.accountQuery(call.message)
    let wantsUsers = try call.message.flag("returnUserInfo") ?? true
    // Like production, only the first expression is used.
    let expression = try call.message.messages("expression").first
    let accounts: [Account]
    let count: Int
    if let expression, let named = try await account(expression, call.pool) {
      accounts = Array(named.dropFirst(query.offset).prefix(query.limit))
      count = wantsUsers ? accounts.count : named.count
    } else if wantsUsers {
      accounts = try await identity.accounts.query(call.pool, query)
      count = accounts.count
    } else {
      accounts = []
      count = try await identity.accounts.counts(call.pool).users
    }
    var answer: JSON.Object = ["recordsCount": .string(String(count))]
    if wantsUsers, !accounts.isEmpty {
      let tenant = call.pool.tenant
      answer.append("userInfo", .array(accounts.map { UserMessage.write($0, tenant: tenant) }))
    }
    return .object(answer)
  }

  private static func accountQuery(_ message: RequestMessage) throws(WireError) -> AccountQuery {
    var query = AccountQuery()
    query.sort =
      switch try message.enumeration("sortBy", sortBy) {
      case 2: .name
      case 3: .createdAt
      case 4: .lastLoginAt
      case 5: .email
      default: .uid
      }
    query.descends = try message.enumeration("order", order) == 2
    let limit = try message.int64("limit") ?? 500
    let offset = try message.int64("offset") ?? 0
    guard limit >= 0, offset >= 0 else { throw WireError("INVALID_PAGE_SELECTION") }
    guard offset <= AccountQuery.longestOffset else {
      throw WireError(
        "INVALID_PAGE_SELECTION : At most \(AccountQuery.longestOffset) accounts can be skipped;"
          + " accounts:batchGet lists all of them.")
    }
    query.limit = Int(min(limit, 500))
    query.offset = Int(offset)
    return query
  }

  private func account(
    _ expression: RequestMessage, _ pool: Pool
  ) async throws -> [Account]? {
    let email = try expression.text("email") ?? ""
    let phone = Account.phoneNumber(try expression.text("phoneNumber") ?? "")
    let id = try expression.text("userId") ?? ""
    if !email.isEmpty { return try await identity.accounts.lookup(pool, emails: [email]) }
    if !phone.isEmpty { return try await identity.accounts.lookup(pool, phoneNumbers: [phone]) }
    if !id.isEmpty { return try await identity.accounts.lookup(pool, ids: [id]) }
    return nil
  }
}
