# Write small rpart and partykit trees with R's own results, for tests/importers/test_r_trees.py.
#   cd tools/r_reference && Rscript make_fixtures.R        (Debian: r-cran-rpart r-cran-partykit)
# The files are tests/fixtures/r/<name>.json (the tree) and <name>.csv (rows, and the leaf of each in R).
library(rpart)
suppressMessages(library(partykit))
source("../../src/keeptree/importers/keeptree.R")
folder <- "../../tests/fixtures/r"

beside <- function(x) {
  ulp <- 2^(floor(log2(max(abs(x), 1e-300))) - 52)
  single <- 2^(floor(log2(max(abs(x), 1e-30))) - 23)
  c(x, x - ulp, x + ulp, x - single, x + single)
}
rows_for <- function(data, thresholds, n = 300) {
  rows <- data[sample(nrow(data), n, replace = TRUE), , drop = FALSE]
  for (name in names(rows)) if (is.numeric(rows[[name]])) {
    rows[[name]] <- as.numeric(rows[[name]])
    values <- c(unlist(lapply(thresholds[[name]], beside)), 0, -0, 1e300, -1e300, 1e-300)
    change <- runif(n) < 0.6
    rows[[name]][change] <- sample(values, sum(change), replace = TRUE)
    rows[[name]][seq_along(values)[seq_len(min(n, length(values)))]] <- values[seq_len(min(n, length(values)))]
  }
  rows
}
write_rows <- function(name, rows, leaf, class) {
  for (k in names(rows)) if (is.numeric(rows[[k]])) rows[[k]] <- sprintf("%.17g", rows[[k]])
  rows[[".leaf"]] <- leaf
  rows[[".class"]] <- as.character(class)
  write.csv(rows, file.path(folder, paste0(name, ".csv")), row.names = FALSE, fileEncoding = "UTF-8")
}
rpart_leaf <- function(fit, rows) {
  as.integer(row.names(fit$frame))[rpart:::pred.rpart(fit, rpart:::rpart.matrix(rows))]
}
set.seed(1)
made <- function(name, fit, data, missing = FALSE) {
  keeptree_write(fit, file.path(folder, paste0(name, ".json")))
  splits <- fit$splits
  thresholds <- if (is.null(splits)) list() else split(splits[abs(splits[, "ncat"]) < 2, "index"],
    row.names(splits)[abs(splits[, "ncat"]) < 2])
  frame <- model.frame(delete.response(fit$terms), data, na.action = na.pass)
  rows <- rows_for(frame, thresholds)
  rows <- rows[complete.cases(rows), , drop = FALSE]
  if (missing) for (k in names(rows)) rows[[k]][runif(nrow(rows)) < 0.15] <- NA
  read <- model.frame(delete.response(fit$terms), rows, na.action = na.pass, xlev = attr(fit, "xlevels"))
  write_rows(name, rows, rpart_leaf(fit, read), predict(fit, rows, type = "class"))
}
made("rpart_kyphosis", rpart(Kyphosis ~ Age + Number + Start, kyphosis), kyphosis)
made("rpart_iris", rpart(Species ~ ., iris, minsplit = 5, cp = 0), iris)
cars <- car.test.frame
cars$Type <- factor(cars$Type); cars$Country <- factor(cars$Country)
made("rpart_cars", rpart(Type ~ Price + Country + Mileage + Weight + HP, cars, minsplit = 6, cp = 0), cars)
made("rpart_loss", rpart(Kyphosis ~ Age + Number + Start, kyphosis, minsplit = 6, cp = 0,
  parms = list(loss = matrix(c(0, 4, 1, 0), 2), prior = c(0.6, 0.4))), kyphosis)
third <- data.frame(x = (1:90) / 3, y = factor(rep(c("a,b", "c \"d\"", "é"), each = 30)))
made("rpart_thirds", rpart(y ~ x, third, minsplit = 5), third)

party <- function(name, fit, data) {
  keeptree_write(fit, file.path(folder, paste0(name, ".json")))
  thresholds <- list()
  for (id in nodeids(fit)) {
    split <- split_node(node_party(fit[id]))
    if (is.null(split) || is.null(breaks_split(split))) next
    k <- names(fit$data)[varid_split(split)]
    thresholds[[k]] <- c(thresholds[[k]], breaks_split(split))
  }
  rows <- rows_for(data[setdiff(names(data), all.vars(formula(terms(fit)))[1])], thresholds)
  write_rows(name, rows, predict(fit, rows, type = "node"), predict(fit, rows))
}
party("ctree_iris", ctree(Species ~ ., iris), iris)
cars2 <- cars[complete.cases(cars), ]
party("ctree_cars", ctree(Type ~ Price + Country + Weight, cars2, control = ctree_control(mincriterion = 0.5, minsplit = 5, minbucket = 3)), cars2[c("Type", "Price", "Country", "Weight")])
# Without surrogates, missing values and levels that a test never saw go to the larger child.
made("rpart_majority", rpart(Type ~ Price + Country + Mileage + Weight + HP, cars, minsplit = 6, cp = 0,
  maxsurrogate = 0), cars, missing = TRUE)
