import Identity
import JSON

extension Declaration {
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
}

extension Methods {
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
      accounts = try await part(query, call.pool)
      count = accounts.count
    } else {
      accounts = []
      count = try await users(call.pool)
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

  private func part(_ query: AccountQuery, _ pool: Pool) async throws -> [Account] {
    try await identity.accounts.query(pool, query)
  }

  private func users(_ pool: Pool) async throws -> Int {
    try await identity.accounts.counts(pool).users
  }
}
