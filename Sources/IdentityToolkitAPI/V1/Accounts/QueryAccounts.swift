import Identity
import JSON

extension Declaration {
  static let query = Declaration(
    "accounts.query", "Counts users and reads some of them.",
    takes: [
      "returnUserInfo": .flag, "limit": .int64, "offset": .int64,
      "expression": .list(["email": .text, "phoneNumber": .text, "userId": .text]),
    ],
    gives: ["recordsCount": .int64.required, "userInfo": .list(.user)])
}

extension Methods {
  /// `accounts:query`: users that an expression names, or all of them by id; only by id, since
  /// sorting a million users by something else is no answer to one request.
  func query(_ call: AdminCall) async throws(WireError) -> JSON {
    let wantsUsers = try call.message.flag("returnUserInfo") ?? true
    let expressions = try call.message.messages("expression")
    let accounts: [Account]
    let count: Int
    if expressions.isEmpty {
      count = try await users(call.scope)
      let limit = try call.message.int64("limit") ?? 500
      guard (1...500).contains(limit), try call.message.int64("offset") ?? 0 == 0 else {
        throw WireError("INVALID_PAGE_SELECTION")
      }
      accounts = wantsUsers ? try await firstAccounts(call.scope, Int(limit)) : []
    } else {
      accounts = try await self.accounts(call.scope, expressions)
      count = accounts.count
    }
    var answer: JSON.Object = ["recordsCount": .string(String(count))]
    if wantsUsers, !accounts.isEmpty {
      let tenant = call.scope.tenant
      answer.append("userInfo", .array(accounts.map { UserMessage.write($0, tenant: tenant) }))
    }
    return .object(answer)
  }

  private func accounts(
    _ scope: Scope, _ expressions: [Message]
  ) async throws(WireError) -> [Account] {
    var ids: [String] = []
    var emails: [String] = []
    var phoneNumbers: [String] = []
    for expression in expressions {
      if let id = try expression.text("userId") { ids.append(id) }
      if let email = try expression.text("email") { emails.append(email) }
      if let number = try expression.text("phoneNumber") { phoneNumbers.append(number) }
    }
    do throws(AccountError) {
      return try await identity.accounts.lookup(
        scope, ids: ids, emails: emails, phoneNumbers: phoneNumbers)
    } catch {
      throw WireError(error)
    }
  }

  private func firstAccounts(_ scope: Scope, _ limit: Int) async throws(WireError) -> [Account] {
    do throws(AccountError) {
      return try await identity.accounts.batch(scope, after: nil, limit: limit).items
    } catch {
      throw WireError(error)
    }
  }

  private func users(_ scope: Scope) async throws(WireError) -> Int {
    do throws(PolicyError) {
      return try await identity.policies.read(scope).users
    } catch {
      throw WireError(error)
    }
  }
}
