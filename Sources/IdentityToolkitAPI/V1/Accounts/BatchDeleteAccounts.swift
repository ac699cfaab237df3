import Identity
import JSON

extension Declaration {
  static let batchDelete = Declaration(
    "accounts.batchDelete", "Deletes up to 1,000 users.",
    takes: ["localIds": .list(.text).required, "force": .flag],
    gives: [
      "errors": .list([
        "index": .integer.required, "localId": .text.required, "message": .text.required,
      ])
    ])
}

extension Methods {
  /// `accounts:batchDelete`: deletes many users; those that aren't disabled require `force`.
  ///
  /// A missing user is treated as deleted, as SDKs expect.
  func batchDelete(_ call: AdminCall) async throws -> JSON {
    let ids = try call.message.texts("localIds")
    let force = try call.message.flag("force") ?? false
    guard (1...1000).contains(ids.count) else { throw WireError("LOCAL_ID_LIST_EXCEEDS_LIMIT") }
    var errors: [JSON] = []
    for (index, id) in ids.enumerated() {
      guard let reason = try await delete(ID(id), force: force, call) else { continue }
      errors.append([
        "index": .number(JSON.Number(index)), "localId": .string(id), "message": .string(reason),
      ])
    }
    return errors.isEmpty ? [:] : ["errors": .array(errors)]
  }

  private func delete(
    _ id: ID<Account>, force: Bool, _ call: AdminCall
  ) async throws -> String? {
    do {
      try await identity.accounts.delete(
        call.pool, id, onlyIfDisabled: !force, by: call.author)
      return nil
    } catch let error as AccountError {
      switch error {
      case .notFound: return nil
      case .notDisabled, .changesLocked, .factorRemovalByTokenOff, .tooManyFactorChanges:
        return WireError(error).message
      default: throw error
      }
    }
  }
}
