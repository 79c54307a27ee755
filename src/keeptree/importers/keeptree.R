# Writes a classification tree of rpart, partykit or C50 as JSON that KeepTree reads, with all digits.
#
#   source("keeptree.R")
#   keeptree_write(fit, "tree.json")        # fit: an rpart, a constparty (ctree) or a C5.0 object
#
# then, in a shell: keeptree keep tree.json --out kept.json; or in Python: keeptree.keep("tree.json")

keeptree_write <- function(model, path) {
  text <- function(x) {
    x <- enc2utf8(as.character(x))
    x <- gsub("\\", "\\\\", x, fixed = TRUE)
    x <- gsub("\"", "\\\"", x, fixed = TRUE)
    for (code in 1:31) x <- gsub(intToUtf8(code), sprintf("\\u%04x", code), x, fixed = TRUE)
    paste0("\"", x, "\"")
  }
  number <- function(x) ifelse(is.finite(x), sprintf("%.17g", x), "null")
  list_of <- function(x) paste0("[", paste(x, collapse = ","), "]")
  object <- function(...) {
    parts <- list(...)
    paste0("{", paste(paste0(text(names(parts)), ":", unlist(parts)), collapse = ","), "}")
  }
  write_tree <- function(kind, version, columns, classes, nodes, extra = "{}") {
    write_document(object(
      keeptree_r = "1", kind = text(kind), version = text(version),
      columns = list_of(columns), classes = list_of(text(classes)), nodes = list_of(nodes),
      options = extra
    ))
  }
  write_document <- function(document) {
    connection <- file(path, open = "wb")
    on.exit(close(connection))
    writeBin(charToRaw(enc2utf8(document)), connection)
    invisible(path)
  }
  column <- function(name, levels) {
    object(name = text(name), levels = if (is.null(levels)) "null" else list_of(text(levels)))
  }

  if (inherits(model, "rpart")) {
    if (model$method != "class") stop("keeptree_write: the tree does not classify")
    classes <- attr(model, "ylevels")
    levels <- attr(model, "xlevels")
    frame <- model$frame
    names <- setdiff(attr(model$terms, "term.labels"), "")
    is_leaf <- frame$var == "<leaf>"
    # Rows of model$splits: for each node the primary split, its competitors, its surrogates.
    size <- frame$ncompete + frame$nsurrogate + !is_leaf
    first <- cumsum(c(1, size))[seq_along(size)]
    n_classes <- length(classes)
    counts <- frame$yval2[, 1 + seq_len(n_classes), drop = FALSE]
    nodes <- vapply(seq_len(nrow(frame)), function(i) {
      shared <- list(
        id = row.names(frame)[i], label = as.character(frame$yval[i] - 1),
        counts = list_of(number(counts[i, ])), n = as.character(frame$n[i])
      )
      if (is_leaf[i]) return(do.call(object, shared))
      split <- model$splits[first[i], ]
      test <- list(column = text(as.character(frame$var[i])), surrogates = as.character(frame$nsurrogate[i]))
      if (abs(split["ncat"]) < 2) {
        test$less_left <- if (split["ncat"] < 0) "true" else "false"
        test$threshold <- number(split["index"])
      } else {
        sides <- model$csplit[split["index"], seq_len(split["ncat"])]
        test$sides <- list_of(sides)
      }
      do.call(object, c(shared, test))
    }, "")
    columns <- vapply(names, function(name) column(name, levels[[name]]), "")
    weighted <- !is.null(model$parms$loss) && (any(model$parms$loss[upper.tri(model$parms$loss)] != 1) ||
      any(model$parms$loss[lower.tri(model$parms$loss)] != 1))
    extra <- object(
      usesurrogate = as.character(model$control$usesurrogate),
      losses = if (weighted) "true" else "false"
    )
    return(write_tree("rpart", as.character(utils::packageVersion("rpart")), columns, classes, nodes, extra))
  }

  if (inherits(model, "party")) {
    data <- model$data
    fitted <- model$fitted[["(fitted)"]]
    response <- model$fitted[["(response)"]]
    weights <- model$fitted[["(weights)"]]
    if (is.null(weights)) weights <- rep(1, length(response))
    if (!is.factor(response)) stop("keeptree_write: the tree does not classify")
    classes <- levels(response)
    nodes <- character(0)
    used <- character(0)
    walk <- function(node) {
      id <- partykit::id_node(node)
      if (partykit::is.terminal(node)) {
        inside <- fitted == id
        counts <- tapply(weights[inside], response[inside], sum)
        counts[is.na(counts)] <- 0
        nodes <<- c(nodes, object(id = id, counts = list_of(number(counts))))
        return(id)
      }
      split <- partykit::split_node(node)
      if (!is.null(partykit::surrogates_node(node)) && length(partykit::surrogates_node(node)) > 0) {
        surrogates <- length(partykit::surrogates_node(node))
      } else surrogates <- 0
      name <- names(data)[partykit::varid_split(split)]
      used <<- union(used, name)
      place <- length(nodes) + 1
      nodes <<- c(nodes, "")
      kids <- vapply(partykit::kids_node(node), walk, 1L)
      test <- list(id = id, column = text(name), kids = list_of(kids), surrogates = as.character(surrogates))
      breaks <- partykit::breaks_split(split)
      index <- partykit::index_split(split)
      if (!is.null(breaks)) {
        if (is.factor(data[[name]])) {   # an ordered factor: levels up to the break
          test$sides <- list_of(findInterval(seq_along(levels(data[[name]])), breaks, left.open = partykit::right_split(split)) + 1)
        } else {
          test$threshold <- list_of(number(breaks))
          test$right_closed <- if (partykit::right_split(split)) "true" else "false"
        }
        if (!is.null(index)) test$index <- list_of(index)
      } else {
        index[is.na(index)] <- 0
        test$sides <- list_of(index)
      }
      nodes[place] <<- do.call(object, test)
      id
    }
    walk(partykit::node_party(model))
    columns <- vapply(used, function(name) column(name, levels(data[[name]])), "")
    return(write_tree("partykit", as.character(utils::packageVersion("partykit")), columns, classes, nodes))
  }

  if (inherits(model, "C5.0")) {
    if (model$rbm) stop("keeptree_write: the model is a set of rules; grow it with rules = FALSE")
    return(write_document(object(
      keeptree_c50 = "1", version = text(utils::packageVersion("C50")),
      names = text(model$names), tree = text(model$tree)
    )))
  }
  stop("keeptree_write: expected a tree of rpart, partykit or C50")
}
